import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

/// A salvage of a disk's store, with its results.
struct SalvagedStore {
    static let path = "/d/new"

    let report: SalvageReport
    let findings: [SalvageFinding]
    let disk: SimulatedDisk

    /// Salvages the disk's store, and expects that no byte of it changes.
    init(_ store: Store, on other: Disk? = nil, options: LogOptions = Store.options) throws {
        disk = store.disk
        let before = Self.contents(disk)
        var findings: [SalvageFinding] = []
        let watch = InvariantWatch()
        var options = options
        options.invariantWatch = watch.note
        let salvage = Salvage(
            to: Self.path, on: other ?? disk, clock: Clock { 9 }, options: options, deriver: WholeRowDeriver())
        try salvage.checkDestination(outside: Store.path)
        let source = try SalvageSource.open(Store.path, on: other ?? disk)
        report = try salvage.run(source, finding: { findings.append($0) }, progress: { _, _, _ in })
        try watch.check()
        self.findings = findings
        #expect(Self.contents(disk) == before)
    }

    private static func contents(_ disk: SimulatedDisk) -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        for path in disk.filePaths where path.hasPrefix(Store.path) { contents[path] = disk.bytes(of: path) }
        return contents
    }

    /// Opens the new store, which must be sound and closed.
    func open() throws -> Log {
        let log = try Log.open(
            Self.path, on: disk, clock: Clock { 10 }, options: Store.options, deriver: WholeRowDeriver())
        #expect(log.openReport.wasClean)
        #expect(try log.findings().isEmpty)
        return log
    }

    /// Whether an object is reported in an older version, or as lost.
    func isReported(_ id: RecordID, in table: TableID) -> Bool {
        findings.contains { $0 == .olderVersion(table: table, id: id) || $0 == .lostObject(table: table, id: id) }
    }

    /// The newest incomplete transaction.
    var lastLost: UInt64 { report.lostTransactions.last?.upperBound ?? 0 }
}
