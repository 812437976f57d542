import CrashSimulation
import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport

/// A workload of a store on a small file system: it is filled to the last byte three times, and gets space again from
/// removed foreign files, and from deletes and compaction.
struct FullDiskCycle {
    /// The number of objects deleted at a time.
    private static let deleteCount = 16

    private let directory: String
    /// Foreign files, with the purpose of each removal: a first time, deletes and compaction, an opening.
    private let fillers: [String]
    private let fillerByteCount: UInt64
    private let options: LogOptions
    private let holdsBack: Bool
    private let disk: Disk
    private var random: Seed
    private var state = CrashModel()
    private var log: Log
    private(set) var report = FullDiskReport()

    private var path: String { directory + "/store" }

    /// Makes a store, and three files beside it that take a sixth of the space each.
    ///
    /// - Parameters:
    ///   - directory: The directory on a small file system.
    ///   - seed: Makes contents and limits.
    ///   - canary: A rule to be broken.
    /// - Throws: Errors of the disk or the log.
    init(in directory: String, _ seed: Seed, _ canary: FullDiskCanary?) throws {
        self.directory = directory
        random = seed
        let system = PosixDisk()
        let disk = canary.map { BrokenFullDisk(over: system, $0) } ?? system
        self.disk = disk
        let free = try disk.freeByteCount(in: directory)
        fillerByteCount = free / 6
        fillers = (1...3).map { "\(directory)/filler-\($0)" }
        var options = LogOptions()
        // A small disk has many segments: compaction does not touch the open one.
        options.segmentByteCount = random.pick([200_000, 1 << 20])
        options.checkpointByteCount = random.pick([100_000, 1 << 20])
        options.memoryBudget = 4 << 20
        options.maintenance = random.oneIn(2) ? .thread : .inline
        // Every other store has a ballast; on a disk of this size that needs smaller limits.
        holdsBack = random.oneIn(2)
        options.ballastByteCount = Int(free / 16)
        options.ballastStoreByteCount = holdsBack ? Int(free / 8) : .max
        self.options = options
        log = try Self.open(directory + "/store", on: disk, options)
        for filler in fillers { try fill(filler) }
    }

    private static func open(_ path: String, on disk: Disk, _ options: LogOptions) throws(LogError) -> Log {
        try Log.open(path, on: disk, clock: .system, options: options, deriver: CrashDeriver())
    }

    private func fill(_ path: String) throws {
        let file = try PosixDisk().open(path, for: .creating)
        defer { file.close() }
        try file.reserve(from: 0, through: fillerByteCount)
    }

    /// Runs the workload.
    ///
    /// - Throws: `CrashViolation` for a broken promise.
    mutating func run() throws {
        report.cycleCount = 1
        try fillUp()
        try check("on a full disk")

        try makeRoom(0)
        try write("after another program made room")
        try fillUp()

        let before = try segmentByteCount()
        try delete()
        try compact()
        let after = try segmentByteCount()
        guard after < before * 3 / 4 else {
            throw CrashViolation("nine of ten objects are deleted, and \(after) of \(before) bytes are still there")
        }
        report.compactedByteCount += before - after
        try check("after compaction")

        try fillUp()
        log.abandonForTests()
        try reopen()
        try check("opened again on a full disk")
        try write("after it was opened again with room")
        try log.close()
        log = try Self.open(path, on: disk, options)
        try check("closed and opened again")
        try log.close()
    }

    // MARK: Steps

    /// Commits until a transaction is refused, and then tries a small one.
    private mutating func fillUp() throws {
        while try commit(rowByteCount: 4_000) {
            guard report.commitCount < 100_000 else { throw CrashViolation("the disk does not fill up") }
        }
        _ = try commit(rowByteCount: 40)
    }

    /// One transaction of some rows, and maybe a blob.
    ///
    /// - Returns: False if it was refused for lack of space.
    private mutating func commit(rowByteCount: Int) throws -> Bool {
        var next = state
        let count = 1 + random.below(20)
        let blobByteCount = random.oneIn(3) ? random.pick([5_000, 70_000, 300_000]) : 0
        let isDone = try unlessFull { transaction, random in
            for _ in 0..<count {
                let table = TableID(rawValue: UInt16(16 + random.below(3)))
                let id = try transaction.allocateIDs(1, in: table)
                try next.put(id, random.bytes(12 + random.below(rowByteCount)), in: table, &transaction)
            }
            if blobByteCount > 0 { try next.putBlob(random.bytes(blobByteCount), &transaction) }
        }
        if isDone { state = next }
        return isDone
    }

    private mutating func unlessFull(_ body: (inout Transaction, inout Seed) throws -> Void) throws -> Bool {
        do {
            _ = try log.write(author: nil) { transaction in try body(&transaction, &random) }
            report.commitCount += 1
            return true
        } catch let error as LogError {
            guard error.code == .fullDisk else { throw CrashViolation("a full disk is \(error.code): \(error)") }
            guard log.failure == nil else { throw CrashViolation("a full disk poisoned the store: \(error)") }
            report.refusalCount += 1
            return false
        }
    }

    private mutating func write(_ when: String) throws {
        guard try commit(rowByteCount: 400) else { throw CrashViolation("\(when), nothing is written all the same") }
    }

    /// Deletes nine of ten objects, and all blobs but one; the ballast is for that.
    private mutating func delete() throws {
        var doomed = state.rows.flatMap { table, rows in
            rows.keys.filter { $0 % 10 != 0 }.map { (table: table, id: $0) }
        }.sorted { ($0.table, $0.id) < ($1.table, $1.id) }
        doomed += state.blobs.keys.sorted().dropFirst().map { (.blobs, $0) }
        for start in stride(from: 0, to: doomed.count, by: Self.deleteCount) {
            var next = state
            let isDone = try unlessFull { transaction, _ in
                for (table, id) in doomed[start..<min(start + Self.deleteCount, doomed.count)] {
                    if table == .blobs {
                        try transaction.deleteBlob(id)
                        next.blobs[id] = nil
                    } else {
                        try next.delete(id, in: table, &transaction)
                    }
                }
            }
            if isDone {
                state = next
                report.deleteCount += 1
            } else if holdsBack {
                throw CrashViolation("\(start) of \(doomed.count) objects are deleted, then no more")
            } else {
                // There is no ballast: a foreign file must be removed first.
                try makeRoom(1)
            }
        }
    }

    /// Makes a checkpoint and compacts; both free space.
    private mutating func compact() throws {
        for _ in 0..<4 {
            var hasCheckpoint = false
            do throws(LogError) {
                try log.checkpoint()
                hasCheckpoint = true
                try log.compact()
            } catch {
                guard error.code == .fullDisk, log.failure == nil else {
                    throw CrashViolation("compaction on a full disk: \(error.code): \(error)")
                }
                // The ballast is only for deletes, the checkpoints after them and openings.
                if holdsBack, !hasCheckpoint {
                    throw CrashViolation("a checkpoint after deletes finds no room: \(error)")
                }
                try makeRoom(1)
            }
        }
        try write("after compaction")
    }

    private func segmentByteCount() throws -> UInt64 {
        try log.usage().segments.reduce(0) { $0 + $1.byteCount }
    }

    private mutating func reopen() throws {
        do throws(LogError) {
            log = try Self.open(path, on: disk, options)
        } catch {
            guard error.code == .fullDisk, !holdsBack else {
                throw CrashViolation("on a full disk opening is refused: \(error.code): \(error)")
            }
            report.refusedOpeningCount += 1
            try makeRoom(2)
            log = try Self.open(path, on: disk, options)
            return
        }
        try check("opened on a full disk")
        try makeRoom(2)
    }

    /// Removes a foreign file.
    private func makeRoom(_ filler: Int) throws {
        if try PosixDisk().isPresent(fillers[filler]) { try PosixDisk().remove(fillers[filler]) }
    }

    private func check(_ when: String) throws {
        if let difference = try CrashCheck.difference(log.snapshot(), state) {
            throw CrashViolation("\(when): \(difference)")
        }
        var findings: [Finding] = []
        try log.verify({ findings.append($0) }, progress: { _, _ in })
        if let first = findings.first { throw CrashViolation("\(when), verification finds: \(first)") }
    }
}
