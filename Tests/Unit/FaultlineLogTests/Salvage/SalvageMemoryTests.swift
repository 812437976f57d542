import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

struct SalvageMemoryTests {
    @Test func staysInsideItsBudgetWhateverTheNumberOfObjects() throws {
        // On the real file system: a simulated one is memory itself.
        let directory = TemporaryDirectory()
        let (old, new) = (directory.path + "/store", directory.path + "/new")
        var options = LogOptions()
        options.maintenance = .inline
        let log = try Log.open(old, on: PosixDisk(), clock: .system, options: options, deriver: NoIndexes())
        // The tables of versions of 300,000 objects take 7 MB, and each transaction touches all of their pages.
        for round in 0..<2 {
            _ = try log.write(author: nil) { transaction in
                for number in 0..<300_000 {
                    try transaction.put(
                        UInt64(number) + 1, in: plainTable, layout: 1, changed: round == 0 ? nil : 1, flags: [],
                        byteCount: 8
                    ) { $0.copyBytes(from: row(number + round, byteCount: 8)) }
                }
            }
        }
        try log.close()

        options.memoryBudget = 3 << 20
        let salvage = Salvage(to: new, on: PosixDisk(), clock: .system, options: options, deriver: NoIndexes())
        let source = try SalvageSource.open(old, on: PosixDisk())
        let report = try salvage.run(source, finding: { Issue.record("\($0)") }, progress: { _, _, _ in })
        #expect(!report.hasLoss)
        #expect(report.recordCounts == [plainTable: 300_000])
        #expect(report.peakByteCount < 6 << 20, "\(report.peakByteCount) bytes at the most")

        let again = try Log.open(new, on: PosixDisk(), clock: .system, options: options, deriver: NoIndexes())
        #expect(again.openReport.wasClean)
        for number in stride(from: 0, to: 300_000, by: 9_973) {
            #expect(
                try again.snapshot().row(UInt64(number) + 1, in: plainTable) == row(number + 1, byteCount: 8))
        }
        #expect(try again.findings().isEmpty)
        try again.close()
    }
}
