import CrashSimulation
import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport

/// A small store for two concurrent jobs, with its expected contents.
// Safe because the model is only changed under the writer lock, and every other variable is used by one job only.
final class InterleavedStore: @unchecked Sendable {
    private static let path = "/d/store"
    private static let unique = TableID(rawValue: 16)
    private static let grouped = TableID(rawValue: 17)

    private let simulated: SimulatedDisk
    let disk: SteppedDisk
    private let log: Log
    private var model: CrashModel
    private var held: [(snapshot: Snapshot, model: CrashModel)] = []

    private static var options: LogOptions {
        var options = LogOptions()
        options.maintenance = .manual
        options.segmentByteCount = 1_200
        options.memoryBudget = 1 << 20
        options.seed = 3
        return options
    }

    /// A closed store with partly dead segments.
    struct Origin: Sendable {
        let disk: SimulatedDisk
        let model: CrashModel
    }

    /// - Throws: Errors of the log. None are expected without faults.
    static func makeOrigin() throws -> Origin {
        let disk = SimulatedDisk(directories: ["/d"])
        let log = try open(disk)
        var model = CrashModel()
        for round in 0..<5 as Range<UInt8> {
            try write(log, &model) { model, transaction in
                for id in 1...8 as ClosedRange<RecordID> {
                    let row = [1, 1, 1, 1, 1, 1, round, UInt8(id)] + [UInt8](repeating: round, count: 20)
                    try model.put(id, row, in: unique, &transaction)
                    if id < 5 { try model.put(id, [UInt8(id) % 2, round], in: grouped, &transaction) }
                }
            }
            try write(log, &model) { try $0.putBlob([UInt8](repeating: round, count: 400), &$1) }
            if round == 2 { try log.checkpoint() }
        }
        try log.close()
        return Origin(disk: disk, model: model)
    }

    private static func open(_ disk: Disk) throws -> Log {
        try Log.open(path, on: disk, clock: Clock { 7 }, options: options, deriver: CrashDeriver())
    }

    private static func write(
        _ log: Log, _ model: inout CrashModel, _ body: (inout CrashModel, inout Transaction) throws -> Void
    ) throws {
        _ = try log.write(author: nil) { try body(&model, &$0) }
    }

    /// Writes a transaction; the model changes in the writer's turn, for two threads write.
    private func write(_ body: (inout CrashModel, inout Transaction) throws -> Void) throws {
        _ = try log.write(author: nil) { try body(&model, &$0) }
    }

    /// - Parameters:
    ///   - origin: The store to start from.
    ///   - endsSnapshots: Whether snapshots keep files alive that compaction has dropped.
    ///   - leavesVolatile: Whether the disk ignores the synchronizations of commits.
    /// - Throws: Errors of the log. None are expected without faults.
    init(_ origin: Origin, endsSnapshots: Bool, leavesVolatile: Bool) throws {
        simulated = origin.disk.afterProcessDeath()
        if leavesVolatile { simulated.ignoredSynchronizations = { $0.site == "log.commit" } }
        disk = SteppedDisk(over: simulated)
        log = try Self.open(disk)
        model = origin.model
        held.append((log.snapshot(), model))
        if endsSnapshots { try log.compact() }
        try change(5)
        held.append((log.snapshot(), model))
        try change(6)
        held.append((log.snapshot(), model))
    }

    private func change(_ round: UInt8) throws {
        try write { model, transaction in
            for id in 4...7 as ClosedRange<RecordID> {
                try model.put(id, [2, 2, 2, 2, 2, 2, round, UInt8(id), 9], in: Self.unique, &transaction)
            }
        }
    }

    // MARK: Jobs

    func run(_ job: InterleavedJob) throws {
        switch job {
        case .commit: try commit()
        case .compaction: try log.compact()
        case .checkpoint: try log.checkpoint()
        case .snapshotEnd:
            while let (snapshot, past) = held.popLast() {
                if let difference = try CrashCheck.difference(snapshot, past) {
                    throw CrashViolation("a snapshot changed: \(difference)")
                }
            }
        case .fileDrop:
            try write { model, transaction in
                try transaction.dropTable(Self.grouped)
                model.rows[Self.grouped] = nil
            }
            try log.dropIndex(CrashDeriver.group.id)
            try log.checkpoint()
        }
    }

    private func commit() throws {
        try write { model, transaction in
            let moved: [UInt8] = [3, 3, 3, 3, 3, 3, 3, 1, 1]
            try model.put(1, moved, in: Self.unique, &transaction)
            try model.delete(2, in: Self.unique, &transaction)
            try model.put(5, moved.map { $0 + 1 }, in: Self.unique, &transaction)
        }
        try write { model, transaction in
            try model.putBlob([UInt8](repeating: 77, count: 300), &transaction)
            try model.put(3, [5, 5, 5, 5, 5, 5, 5, 3], in: Self.unique, &transaction)
        }
    }

    // MARK: Checks

    /// Checks all contents, now and after reopening the store.
    ///
    /// - Parameter cutsPower: Whether a power cut that loses all volatile data ends the store before it is reopened.
    /// - Throws: `CrashViolation`, or errors of the log.
    func check(cutsPower: Bool) throws {
        if let failure = log.failure { throw failure }
        try check(log, "afterwards")
        for (snapshot, past) in held {
            if let difference = try CrashCheck.difference(snapshot, past) {
                throw CrashViolation("a snapshot changed: \(difference)")
            }
        }
        held.removeAll()
        let left: SimulatedDisk
        if cutsPower {
            left = simulated.withOnlyWhatIsDurable()
            log.abandonForTests()
        } else {
            try log.close()
            left = simulated
        }
        let again = try Self.open(left)
        try check(again, "opened again")
        try again.close()
    }

    private func check(_ log: Log, _ when: String) throws {
        if let difference = try CrashCheck.difference(log.snapshot(), model) {
            throw CrashViolation("\(when), \(difference)")
        }
        var findings: [Finding] = []
        try log.verify({ findings.append($0) }, progress: { _, _ in })
        if let first = findings.first { throw CrashViolation("\(when), verification finds: \(first)") }
    }
}
