import PackageArchive
import Testing

@Suite struct DebianVersionTests {
    /// Each is lower than all later ones.
    static let ascending = [
        "0~~", "0~~a", "0~", "0", "0a", "0+", "1.0~rc1-1", "1.0-0", "1.0-1~bpo1", "1.0-1", "1.0-1+b1", "1.0-1.1",
        "1.0a-1",
        "1.0+dfsg-1", "1.2", "1.10", "2", "1:0.1", "1:0.1-1", "2:0",
    ]

    @Test func ordersAsDebianDoes() {
        for (low, earlier) in Self.ascending.enumerated() {
            #expect(!DebianVersion.isEarlier(earlier, than: earlier))
            for later in Self.ascending[(low + 1)...] {
                #expect(DebianVersion.isEarlier(earlier, than: later), "\(earlier) < \(later)")
                #expect(!DebianVersion.isEarlier(later, than: earlier), "\(later) > \(earlier)")
            }
        }
    }

    @Test(arguments: [("1.0", "1.00"), ("0:1", "1"), ("1.02", "1.2"), ("1-0", "1")])
    func findsSpellingsOfOneVersionEqual(a: String, b: String) {
        #expect(!DebianVersion.isEarlier(a, than: b))
        #expect(!DebianVersion.isEarlier(b, than: a))
    }
}
