import FaultlineCommands
import Testing

struct DateTextTests {
    @Test func saysTheVeryMoment() {
        let texts: [(Double, String)] = [
            (0, "\"2001-01-01T00:00:00Z\""), (0.5, "\"2001-01-01T00:00:00.5Z\""),
            (-0.25, "\"2000-12-31T23:59:59.75Z\""), (1.001, "\"2001-01-01T00:00:01.001Z\""),
            (700_000_000.000_001, "\"2023-03-08T20:26:40.000001Z\""),
            (-63_114_076_800, "\"0001-01-01T00:00:00Z\""), (252_423_993_599, "\"9999-12-31T23:59:59Z\""),
        ]
        for (seconds, text) in texts { #expect(DateText.json(secondsSince2001: seconds) == text) }
    }

    @Test func saysWhatHasNoDateAsANumber() {
        #expect(DateText.json(secondsSince2001: .nan) == "null")
        #expect(DateText.json(secondsSince2001: -.infinity) == "null")
        #expect(DateText.json(secondsSince2001: 1e300) == "1e+300")
        #expect(DateText.json(secondsSince2001: -63_114_076_801) == "-63114076801.0")
    }
}
