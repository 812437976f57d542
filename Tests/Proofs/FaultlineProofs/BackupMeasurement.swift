import CrashSimulation
import FaultlineBackup
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Glibc
import Synchronization

/// Measures how long commits of eight threads wait while another process makes a backup, and that process's memory.
///
/// Commits without and with a backup follow each other in one run, and the ratio is the median of the pairs.
struct BackupMeasurement {
    private static let writerCount = 8
    private static let pairCount = 5
    private static let table = TableID(rawValue: 16)

    private let directory: String
    private let mebibytes: Int
    private let bytesPerSecond: Int?

    /// - Parameter arguments: A directory, the size of the store in MiB, and the bytes that a backup copies in a second.
    /// - Throws: `WrongUsage`.
    init(_ arguments: [String]) throws {
        guard 2...3 ~= arguments.count, let mebibytes = Int(arguments[1]), 1...1_000_000 ~= mebibytes else {
            throw WrongUsage(message: "backup --measure needs a directory and a size in MiB")
        }
        directory = arguments[0]
        self.mebibytes = mebibytes
        bytesPerSecond = arguments.count == 3 ? Int(arguments[2]) : nil
    }

    /// Makes one backup, in the process whose memory is measured.
    static func backUpOnce(_ arguments: [String]) throws -> Int32 {
        guard 2...3 ~= arguments.count else { throw WrongUsage(message: "backup --once needs a store and a directory") }
        var options = BackupOptions()
        options.bytesPerSecond = arguments.count == 3 ? Int(arguments[2]) : nil
        let rise = try PeakMemory.Rise()
        let report = try BackupWriter(of: arguments[0], on: PosixDisk(), clock: .system, options: options)
            .write(to: arguments[1])
        print(#"{"rise":\#(try rise.byteCount()),"bytes":\#(report.copiedByteCount)}"#)
        return 0
    }

    func run() throws -> Int32 {
        let store = directory + "/measured-store"
        TemporaryDirectory.remove(store)
        defer { TemporaryDirectory.remove(store) }
        let log = try Log.open(
            store, on: PosixDisk(), clock: .system, options: LogOptions(), deriver: NoIndexes())
        try fill(log)
        let times = CommitWaits()
        let threads = TestThreads()
        for writer in 0..<Self.writerCount { threads.run { Self.write(log, times, writer) } }
        var ratios: [Double] = []
        var (quiet, busy, rise, bytes, seconds) = (UInt64(0), UInt64(0), 0, 0, 0.0)
        for pair in 0..<Self.pairCount {
            _ = times.take()
            SystemThread.sleep(nanoseconds: 3_000_000_000)
            let without = times.take()
            let begin = Clock.system.monotonicNanoseconds()
            let backups = directory + "/measured-backups-\(pair)"
            TemporaryDirectory.remove(backups)
            let process = try ProofProcess(
                ["backup", "--once", store, backups] + (bytesPerSecond.map { ["\($0)"] } ?? []))
            seconds = Double(Clock.system.monotonicNanoseconds() - begin) / 1e9
            let with = times.take()
            TemporaryDirectory.remove(backups)
            guard process.status == 0, let peak = process["rise"], let copied = process["bytes"] else {
                times.end()
                threads.join()
                throw WrongUsage(message: "the backup ended with status \(process.status)")
            }
            (quiet, busy, rise, bytes) = (without, with, max(rise, peak), copied)
            ratios.append(Double(with) / Double(max(1, without)))
        }
        times.end()
        threads.join()
        try log.close()
        ratios.sort()
        print(
            #"{"mebibytes":\#(mebibytes),"backup_bytes":\#(bytes),"backup_seconds":\#(seconds),"rise":\#(rise),"#
                + #""p99_ns":\#(quiet),"p99_meanwhile_ns":\#(busy),"ratio":\#(ratios[ratios.count / 2]),"#
                + #""ratios":\#(ratios)}"#)
        return 0
    }

    /// Half of the bytes in rows of 100 bytes, half in blobs of 1 MiB.
    private func fill(_ log: Log) throws {
        var random = Seed(7)
        for _ in 0..<max(1, mebibytes / 2) {
            let blob = random.bytes(1 << 20)
            let rows = (0..<10_000).map { _ in random.bytes(100) }
            _ = try log.write(author: nil) { transaction in
                let first = try transaction.allocateIDs(rows.count, in: Self.table)
                for (place, row) in rows.enumerated() {
                    try transaction.put(first + UInt64(place), row, in: Self.table, changed: nil)
                }
                let owner = BlobOwner(table: Self.table, slot: 1, id: first)
                _ = try blob.withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
            }
        }
        try log.checkpoint()
    }

    private static func write(_ log: Log, _ times: CommitWaits, _ writer: Int) {
        var random = Seed(UInt64(writer) + 1)
        let clock = Clock.system.monotonicNanoseconds
        while !times.isOver {
            let row = random.bytes(100)
            let begin = clock()
            do {
                _ = try log.write(author: nil) { transaction in
                    let id = try transaction.allocateIDs(1, in: table)
                    try transaction.put(id, row, in: table, changed: nil)
                }
            } catch {
                ProofShell.note("writer \(writer): \(error)")
                return
            }
            times.add(clock() - begin)
        }
    }
}

/// The waits of commits since they were last taken.
private final class CommitWaits: Sendable {
    private let waits = Guarded<[UInt64]>([])
    private let over = Atomic<Bool>(false)

    var isOver: Bool { over.load(ordering: .relaxed) }
    func end() { over.store(true, ordering: .relaxed) }
    func add(_ nanoseconds: UInt64) { waits.withLock { $0.append(nanoseconds) } }

    /// The wait below which 99 of 100 are, of those since the last call.
    func take() -> UInt64 {
        var taken = waits.withLock { all in
            defer { all.removeAll() }
            return all
        }
        taken.sort()
        return taken.isEmpty ? 0 : taken[taken.count * 99 / 100]
    }
}
