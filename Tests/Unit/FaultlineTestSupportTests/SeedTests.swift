import FaultlineTestSupport
import Glibc
import Testing

struct SeedTests {
    /// The first numbers of the published generator for the seed 1234567.
    @Test func givesThePublishedNumbers() {
        var seed = Seed(1_234_567)

        let numbers = (0..<5).map { _ in seed.next() }

        #expect(
            numbers == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
            ])
    }

    @Test func staysBelowItsLimitAndReachesEverything() {
        var seed = Seed(5)
        var seen = Set<Int>()

        for _ in 0..<1000 { seen.insert(seed.below(10)) }

        #expect(seen == Set(0..<10))
        #expect(Seed(9).origin == 9)
    }

    @Test func printsTheLineThatReplays() {
        var seed = Seed(255)
        _ = seed.next()

        #expect(seed.replay("keepsAll") == "replay: FAULTLINE_SEED=0xff swift test --filter 'keepsAll'")
        #expect(seed.bytes(13).count == 13)
        var again = Seed(255)
        _ = again.next()
        var fresh = Seed(255)
        _ = fresh.next()
        #expect(again.bytes(13) == fresh.bytes(13))
    }

    @Test func listsSeedsOrTheOneThatIsAskedFor() async {
        #expect(Seed.list(3).map(\.origin) == [1, 2, 3])
        await #expect(processExitsWith: .success) {
            setenv(Seed.variable, "0x1f", 1)
            #expect(Seed.list(3).map(\.origin) == [31])
            setenv(Seed.variable, "77", 1)
            #expect(Seed.list(3).map(\.origin) == [77])
        }
    }
}
