import FaultlineBrowse
import Testing

/// Targets of requests.
struct RequestTests {
    @Test func `paths and queries are decoded`() {
        let request = PageRequest(target: "/entity/A%2FB/?x=1+2&y=%C3%A9&z&=3&x=4")
        #expect(request?.path == ["entity", "A/B"])
        #expect(request?.query.map(\.name) == ["x", "y", "z", "", "x"])
        #expect(request?.query.map(\.value) == ["1 2", "é", "", "3", "4"])
    }

    @Test(arguments: [
        "", "entity", "/%", "/%4", "/%zz", "/%ff", "/?a=%80", "/" + String(repeating: "a", count: 20_000),
    ])
    func `a target that is not valid is refused`(_ target: String) {
        #expect(PageRequest(target: target) == nil)
    }
}
