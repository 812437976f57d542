import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Keeping a state, and restoring it, on a disk that fails.
struct KeptStateFailureTests {
    private let store = Store()
    private let disk: FailingDisk

    init() { disk = FailingDisk(over: store.disk) }

    /// Commits do not wait for the disk, so keeping a state must make them durable.
    private func open() throws -> Log {
        var options = Store.options
        options.durability = .async
        return try store.open(options, on: disk)
    }

    private func write(_ log: Log, round: Int) throws {
        for number in 1...40 {
            _ = try log.write(author: nil) {
                try $0.put(UInt64(number), row(round * 100 + number, byteCount: 100), in: plainTable)
            }
        }
    }

    /// A state that cannot be made durable is not kept, and the state kept before still is.
    @Test(
        arguments: [["log.commit"], ["checkpoint.content"], ["manifest.edit", "manifest.fresh"]] as [Set<SyncSite>],
        [false, true])
    func `a state that the disk did not take is not kept`(sites: Set<SyncSite>, isAnotherKept: Bool) throws {
        var log = try open()
        try write(log, round: 1)
        if isAnotherKept { try log.keepState(for: 1_000) }
        let before = try log.keptState()
        #expect((before != nil) == isAnotherKept)
        try write(log, round: 2)
        disk.arm(DiskFault(isSticky: true) { $0.site.map(sites.contains) == true })
        #expect(throws: LogError.self) { try log.keepState(for: 5_000) }
        #expect(disk.hitCount > 0)
        disk.disarm()
        log.abandonForTests()
        log = try open()
        let after = try log.keptState()
        #expect(after?.sequence == before?.sequence && after?.untilNanoseconds == before?.untilNanoseconds)
        #expect(try log.snapshot().row(7, in: plainTable) == row(207, byteCount: 100))
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    /// Committed transactions are made durable first: if that fails, the store reports it, and nothing is lost.
    @Test(arguments: ["log.commit", "segment.header", "segment.directory"] as [SyncSite])
    func `a return that the disk refuses gives nothing up`(site: SyncSite) throws {
        var log = try open()
        try write(log, round: 1)
        try log.keepState(for: 1_000)
        let sequence = log.snapshot().sequence
        try write(log, round: 2)
        disk.arm(DiskFault { $0.site == site })
        #expect(throws: LogError.self) { try log.returnToKeptState() }
        #expect(disk.hitCount == 1)
        disk.disarm()
        // The log ends all the same: the content of the file system is unknown.
        #expect(log.hasEnded)
        log = try open()
        #expect(try log.keptState()?.sequence == sequence)
        #expect(try log.snapshot().row(7, in: plainTable) == row(207, byteCount: 100))
        try log.returnToKeptState()
        log = try open()
        #expect(try log.snapshot().row(7, in: plainTable) == row(107, byteCount: 100))
        #expect(log.snapshot().sequence == sequence)
        #expect(try log.findings().isEmpty)
        try log.close()
    }
}
