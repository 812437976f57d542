package import FaultlineDisk
import Synchronization

/// Collects events and problems of an open store, for its health and its observer.
///
/// Concurrency: guarded by its lock, under which no thread waits; lock order: this, the queue of events.
// Safe because the changing state is guarded by the lock, and the rest is set before the store is shared.
package final class StoreWatch: @unchecked Sendable {
    /// The number of damaged places kept.
    private static let rotPlaceCountMax = 64
    /// The number of damaged places counted separately; a store with more is reported often enough.
    private static let rotCountMax = 1_024

    private struct Place: Hashable {
        let path: String
        let offset: UInt64?
    }

    private let lock = EngineLock()
    private var rot: Set<Place> = []
    private var rotPlaces: [RotPlace] = []
    private var refusal: (error: LogError, freeByteCount: UInt64?)?
    private var newestMaintenanceFailure: LogError?
    private var newestSpace = SpaceFigures()
    private var tableNames: [TableID: String] = [:]
    private let hasRefused = Atomic<Bool>(false)

    private var events: EventQueue?
    private var clock: Clock?

    package init() {}

    /// Sets the observer; to be called before the store is shared.
    package func tell(_ observer: any LogObserver, clock: Clock) {
        events = EventQueue(observer)
        self.clock = clock
    }

    // MARK: Names

    /// Adds names of tables, for messages.
    package func addTableNames(_ names: [TableID: String]) {
        lock.withLock { tableNames.merge(names) { $1 } }
    }

    /// A table as messages name it: `Person (table 16)`, or `table 16` where no name was given.
    func text(of table: TableID) -> String {
        let name = lock.withLock { tableNames[table] }
        return name.map { "\($0) (table \(table.rawValue))" } ?? "table \(table.rawValue)"
    }

    // MARK: Events

    /// Whether there is an observer.
    var isObserved: Bool { events != nil }

    /// Adds an event if there is an observer; the event is created only then.
    package func note(_ event: @autoclosure () -> LogEvent) {
        if let events { events.add(event()) }
    }

    /// Waits until the observer got all events.
    package func drain() { events?.drain() }

    /// The time, if durations are observed; else 0.
    func now() -> UInt64 { clock?.monotonicNanoseconds() ?? 0 }

    /// Nanoseconds since a time from `now`.
    func nanoseconds(since begin: UInt64) -> UInt64 {
        let end = now()
        return end > begin ? end - begin : 0
    }

    // MARK: Damage

    /// Records damaged bytes; each place counts once.
    func noteRot(_ error: LogError) {
        guard error.code == .damaged, let path = error.path else { return }
        lock.lock()
        defer { lock.unlock() }
        guard rot.count < Self.rotCountMax, rot.insert(Place(path: path, offset: error.offset)).inserted else { return }
        let place = RotPlace(path: path, offset: error.offset, message: error.fault)
        if rotPlaces.count < Self.rotPlaceCountMax { rotPlaces.append(place) }
        note(.rotMet(place))
    }

    /// The first damaged places, and the number of all; 1,024 means that or more.
    var rotMet: (places: [RotPlace], count: Int) { lock.withLock { (rotPlaces, rot.count) } }

    // MARK: Space

    /// Whether an operation was refused for lack of space, so that a success is worth a check.
    @inline(__always) var isFull: Bool { hasRefused.load(ordering: .relaxed) }

    /// Records that an operation was refused for lack of space.
    func noteFull(_ error: LogError, freeByteCount: UInt64?) {
        lock.lock()
        defer { lock.unlock() }
        let isNew = refusal == nil
        refusal = (error, freeByteCount)
        hasRefused.store(true, ordering: .relaxed)
        if isNew { note(.diskFull(error)) }
    }

    /// Records a write, with the free bytes: more free bytes than at the refusal mean that there is space again.
    func noteWritten(freeByteCount: UInt64?) {
        lock.lock()
        defer { lock.unlock() }
        if let then = refusal?.freeByteCount, let freeByteCount, freeByteCount <= then { return }
        forgetRefusal()
    }

    /// Records that there is space again.
    func noteSpace() { lock.withLock { forgetRefusal() } }

    private func forgetRefusal() {
        guard refusal != nil else { return }
        refusal = nil
        hasRefused.store(false, ordering: .relaxed)
        note(.spaceCameBack)
    }

    /// The error of the last operation refused for lack of space; nil once there is space again.
    var fullDisk: LogError? { lock.withLock { refusal?.error } }

    // MARK: Maintenance

    /// Records the result of the newest checkpoint or compaction.
    func noteMaintenance(_ failure: LogError?) {
        lock.withLock { newestMaintenanceFailure = failure }
        guard let failure, failure.code != .fullDisk, failure.code != .closed else { return }
        note(.maintenanceFailed(failure))
    }

    /// The error of the newest checkpoint or compaction, if it failed.
    var maintenanceFailure: LogError? { lock.withLock { newestMaintenanceFailure } }

    /// Bytes of the store's files at the newest checkpoint: readable without waiting for a disk.
    var space: SpaceFigures {
        get { lock.withLock { newestSpace } }
        set { lock.withLock { newestSpace = newValue } }
    }
}
