import FaultlineDisk
import Testing

struct ClockTests {
    @Test func asksWhatItWasMadeFrom() {
        #expect(Clock { 42 }.wallNanoseconds() == 42)
    }

    @Test func theSystemsClockLiesInThisAge() {
        #expect(Clock.system.wallNanoseconds() > 1_577_836_800_000_000_000)
    }
}
