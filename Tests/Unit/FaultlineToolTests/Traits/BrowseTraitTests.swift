#if !Browse
import Faultline
import FaultlineTestSupport
import FaultlineTool
import Testing

/// `faultline browse` in a tool that was built without the trait.
struct BrowseTraitTests {
    @Test func `the missing trait is named`() async throws {
        let result = try await #require(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
            runFaultlineTool(["browse", "/none/photos.store"])
        }
        #expect(text(result.standardErrorContent).contains("package trait Browse"))
    }
}
#endif
