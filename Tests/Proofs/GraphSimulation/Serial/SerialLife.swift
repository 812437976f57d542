internal import Faultline
internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineObjects
import FaultlineRepair
internal import FaultlineStore
internal import FaultlineTestSupport
internal import Foundation
internal import Synchronization

/// Two to eight contexts on their own threads, over one store.
///
/// Every operation becomes a line of a file.
///
/// The life itself compares nothing: `SerialCheck` reads only the file.
struct SerialLife {
    let seed: UInt64
    let operationCount: Int
    let canary: SerialCanary?
    static let threadCountMax = 8
    private let threadCount: Int
    /// The number of objects of each class before the threads begin.
    private let counts: [Int]

    init(seed: UInt64, operationCount: Int, canary: SerialCanary?) {
        self.seed = seed
        self.operationCount = operationCount
        self.canary = canary
        var random = Seed(seed)
        threadCount = 2 + random.below(Self.threadCountMax - 1)
        counts =
            switch seed % 8 {
            case 0: [13_400, 2, 20, 8, 20]
            case 1, 2: [4_000, 6, 400, 200, 400]
            default: [40, 4, 30, 12, 20]
            }
    }

    /// Runs the life.
    ///
    /// - Returns: The lines of the file.
    /// - Throws: Errors that an operation must not throw, and findings about the store afterwards.
    func run() throws -> [String] {
        var options = LogOptions()
        // A small store may be on a disk that models power cuts while threads work.
        let isCut = seed % 8 > 2 && seed % 3 == 0
        let isAcknowledged = isCut && seed % 2 == 0
        options.durability = isAcknowledged && canary != .cuts ? .sync : .async
        options.preparedByteCount = 0
        options.seed = seed &+ 1
        options.checkpointByteCount = seed % 2 == 0 ? 64 << 10 : 1 << 20
        let simulated = isCut ? SimulatedDisk() : nil
        let disk: Disk = simulated ?? MemoryDisk()
        let container = try ModelContainer(for: SerialKind.types, directory: "store", on: disk, options: options)
        let shared = SerialShared(container: container)
        let first = SerialWorker(shared, thread: 0, seed: Seed(seed), canary: nil)
        try first.fill(counts)
        let cuts = simulated.map { SerialCuts($0, shared, seed: seed) }
        let threads = SerialThreads(first.events)
        let share = max(operationCount / threadCount, 1)
        threads.run(threadCount) { [seed, canary] thread in
            let worker = SerialWorker(
                shared, thread: thread, seed: Seed(seed &* 31 &+ UInt64(thread)), canary: thread == 1 ? canary : nil)
            do { try worker.run(share) } catch {
                return (worker.events, SerialFailure(description: "thread \(thread): \(error)"))
            }
            return (worker.events, nil)
        }
        let left = simulated.flatMap { cuts?.end($0) } ?? []
        if let failure = threads.failure { throw failure }
        // The process is killed, or closes the store; another one must find everything that was saved.
        if seed % 2 == 0 { container.rowStore.log.abandonForTests() } else { try container.close() }
        var events = try threads.events + [reading(disk, options, after: shared)]
        for (place, cut) in left.enumerated() {
            events.append(try Self.reading(cut, options, thread: 100 + place, isAcknowledged: isAcknowledged))
        }
        return events.joined().map(\.line)
    }

    /// Opens the disk that a power cut has left.
    ///
    /// It must contain a state that the store went through. If saves are durable at once, this state must include the
    /// newest acknowledged save.
    private static func reading(
        _ cut: SerialCuts.Cut, _ options: LogOptions, thread: Int, isAcknowledged: Bool
    ) throws -> [SerialEvent] {
        let container = try ModelContainer(for: SerialKind.types, directory: "store", on: cut.disk, options: options)
        let shared = SerialShared(container: container, floor: isAcknowledged ? cut.floor : 0)
        let last = SerialWorker(shared, thread: thread, seed: Seed(0), canary: nil)
        for kind in SerialKind.allCases { try last.fetchAll(kind) }
        try verify(container)
        try container.close()
        return last.events
    }

    /// Checks every record and index entry, and that no reference leads to a deleted object.
    static func verify(_ container: ModelContainer) throws {
        var findings: [String] = []
        try container.rowStore.log.verify({ findings.append("\($0)") }, progress: { _, _ in })
        try container.rowStore.log.checkInvariants()
        try container.rowStore.checkInvariants()
        for property in try ReferenceRepair(container.rowStore).look() where property.count > 0 {
            findings.append("\(property.entityName).\(property.propertyName) dangles \(property.count) times")
        }
        guard findings.isEmpty else { throw SerialFailure(description: "verify: \(findings)") }
    }
}

/// The threads' shared state: the store, the keys used so far, and the newest save that has returned.
final class SerialShared: Sendable {
    let container: ModelContainer
    private let keys = Guarded<[[Int]]>(SerialKind.allCases.map { _ in [] })
    private let given = Atomic<Int>(0)
    private let newest: Atomic<Int>

    init(container: ModelContainer, floor: Int = 0) {
        self.container = container
        newest = Atomic(floor)
    }

    /// The transaction that a fetch beginning now has to show at least.
    var floor: Int { newest.load(ordering: .acquiring) }

    /// The newest transaction.
    var newestSequence: Int { Int(container.rowStore.log.snapshot().sequence) }

    func noteSaved(_ sequence: Int) { _ = newest.max(sequence, ordering: .acquiringAndReleasing) }

    func nextKey() -> Int { given.add(1, ordering: .relaxed).newValue }

    func add(_ key: Int, _ kind: SerialKind) { keys.withLock { $0[kind.rawValue].append(key) } }

    func anyKey(_ kind: SerialKind, _ random: inout Seed) -> Int? {
        keys.withLock { keys in
            let keys = keys[kind.rawValue]
            guard !keys.isEmpty else { return nil }
            // Prefers newer ones, so that the threads use the same objects.
            return random.oneIn(2) ? random.pick(keys) : keys[keys.count - 1 - random.below(min(keys.count, 12))]
        }
    }
}

/// An operation's error, or a damaged store afterwards.
struct SerialFailure: Error, CustomStringConvertible {
    let description: String
}
