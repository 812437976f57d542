import FaultlineCommands
import Testing

@Suite struct QuantityTests {
    @Test func groupsDigits() {
        #expect(
            [0, 7, 999, 1000, 1_234_567, -45_678].map(Quantity.count) == [
                "0", "7", "999", "1,000", "1,234,567", "-45,678",
            ]
        )
    }

    @Test func givesBytesAUnit() {
        let bytes = [0, 999, 1000, 1024, 12 << 10, 999 << 10, 1023 << 10, 5 << 20, 300 << 20, 7 << 30]
        let texts = [
            "0 B", "999 B", "0.98 KiB", "1.00 KiB", "12.0 KiB", "999 KiB", "1.00 MiB", "5.00 MiB", "300 MiB",
            "7.00 GiB",
        ]
        #expect(bytes.map(Quantity.bytes) == texts)
    }

    @Test func givesTimesAUnit() {
        let seconds = [0.000_001_2, 0.000_085, 0.001, 0.0999, 1.5, 99.96, 125.4]
        #expect(
            seconds.map(Quantity.seconds) == [
                "1.20 us", "85.0 us", "1.00 ms", "99.9 ms", "1.50 s", "100 s", "2 min 5 s",
            ]
        )
    }

    @Test func givesRatesAUnit() {
        #expect(Quantity.rate(500, in: 1) == "500/s")
        #expect(Quantity.rate(1_000_000, in: 2) == "500 k/s")
        #expect(Quantity.rate(40_000_000, in: 1) == "40.0 M/s")
        #expect(Quantity.rate(1, in: 0) == "")
    }

    @Test func roundsToDigits() {
        #expect(Quantity.fixed(1.005, digits: 1) == "1.0")
        #expect(Quantity.fixed(-0.26, digits: 1) == "-0.3")
        #expect(Quantity.fixed(-0.04, digits: 1) == "0.0")
        #expect(Quantity.fixed(2.999_9, digits: 3) == "3.000")
    }
}

@Suite struct JSONLineTests {
    @Test func keepsTheOrderOfItsKeys() {
        var line = JSONLine()
        line.add("z", 1)
        line.add("a", true)
        line.add("m", 1.5)
        line.add("none", Double.nan)
        line.add("text", "é \"quoted\" \\ \n\t\u{1}")
        var inner = JSONLine()
        inner.add("x", 0.123_456, digits: 6)
        line.add("inner", inner)
        line.add("list", [inner, JSONLine()])

        #expect(
            line.line == #"{"z":1,"a":true,"m":1.500,"none":null,"text":"é \"quoted\" \\ \n\t\u0001","#
                + #""inner":{"x":0.123456},"list":[{"x":0.123456},{}]}"#
        )
    }
}

@Suite struct TableTests {
    @Test func alignsColumns() {
        var table = Table([("step", .left), ("objects", .right), ("time", .right)])
        table.add(["import", "491,000", "3.1 s"])
        table.add(["list all names", "7"])
        table.note("cache budget 4 MiB")

        #expect(
            table.text(isStyled: false) == """
                step            objects   time
                ──────────────  ───────  ─────
                import          491,000  3.1 s
                list all names        7
                cache budget 4 MiB

                """
        )
    }

    @Test func stylesOnlyForPeople() {
        var table = Table([("a", .left)])
        table.add(["b"])

        #expect(table.text(isStyled: true).hasPrefix("\u{1B}[1ma\u{1B}[0m\n"))
        #expect(!table.text(isStyled: false).contains("\u{1B}"))
    }
}

@Suite struct ProgressLineTests {
    @Test func tellsCountShareAndRate() {
        let line = ProgressLine(
            "importing",
            total: 2000,
            unit: "objects",
            terminal: Terminal(descriptor: -1),
            now: { 0 }
        )

        let bar = "█████░░░░░░░░░░░░░░░"
        #expect(
            line.text(done: 500, after: 0.5, width: 100)
                == "importing  \(bar)  25 %  500 of 2,000 objects  1.00 k/s")
        #expect(line.text(done: 500, after: 0.5, width: 79) == "importing  25 %  500 of 2,000 objects  1.00 k/s")
        #expect(line.text(done: 500, after: 0.5, width: 11) == "importing ")
        #expect(line.text(done: 500, after: 5, width: 79).hasSuffix("  100/s  15.0 s left"))
    }

    @Test func writesBytesAsPeopleReadThem() {
        let line = ProgressLine(
            "verifying", total: 3 << 20, unit: "bytes", terminal: Terminal(descriptor: -1), now: { 0 })
        #expect(
            line.text(done: 1 << 20, after: 1, width: 79) == "verifying  33 %  1.00 MiB of 3.00 MiB  1.00 MiB/s")
        let endless = ProgressLine(
            "compacting", total: 0, unit: "bytes", terminal: Terminal(descriptor: -1), now: { 0 })
        #expect(endless.text(done: 1 << 20, after: 4, width: 100) == "compacting  1.00 MiB  256 KiB/s")
    }

    @Test func isSilentWhereNobodyLooks() {
        let terminal = Terminal(descriptor: -1)
        var time = 0.0
        var line = ProgressLine(
            "x",
            total: 1,
            unit: "",
            terminal: terminal,
            now: {
                time += 1; return time
            }
        )

        line.update(1)
        line.finish()

        #expect(!terminal.isInteractive)
        #expect(time == 1)
    }
}
