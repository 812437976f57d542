package import FaultlineDisk
import Synchronization

/// What is worth knowing of an open store: kept for its health, and handed to whoever observes it.
///
/// Concurrency: guarded by its lock, under which nobody waits; lock order: this, the queue of events.
// Safe because mutable state is guarded by the lock, and what is not is set before the store is shared.
package final class StoreWatch: @unchecked Sendable {
    /// Places of rot that are remembered.
    private static let rotPlaceCountMax = 64
    /// Places of rot that are told from each other; a store with more is told to be restored often enough.
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

    /// Sets who is told; to be called before the store is shared.
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

    /// Tells an observer, if there is one; to be called with a value that costs nothing to make.
    package func note(_ event: @autoclosure () -> LogEvent) {
        if let events { events.add(event()) }
    }

    /// Waits until the observer has heard everything.
    package func drain() { events?.drain() }

    /// The moment, if somebody wants to know durations.
    func now() -> UInt64 { clock?.monotonicNanoseconds() ?? 0 }

    /// Nanoseconds since a moment that `now` gave.
    func nanoseconds(since begin: UInt64) -> UInt64 {
        let end = now()
        return end > begin ? end - begin : 0
    }

    // MARK: Rot

    /// Notes bytes that are not what was written; each place counts once.
    func noteRot(_ error: LogError) {
        guard error.code == .damaged, let path = error.path else { return }
        lock.lock()
        defer { lock.unlock() }
        guard rot.count < Self.rotCountMax, rot.insert(Place(path: path, offset: error.offset)).inserted else { return }
        let place = RotPlace(path: path, offset: error.offset, message: error.fault)
        if rotPlaces.count < Self.rotPlaceCountMax { rotPlaces.append(place) }
        note(.rotMet(place))
    }

    /// The first places of rot that were met, and how many there were; 1,024 means that or more.
    var rotMet: (places: [RotPlace], count: Int) { lock.withLock { (rotPlaces, rot.count) } }

    // MARK: Space

    /// Whether something was refused for want of space, so that what succeeds is worth a look.
    @inline(__always) var isFull: Bool { hasRefused.load(ordering: .relaxed) }

    /// Notes that something was refused for want of space.
    func noteFull(_ error: LogError, freeByteCount: UInt64?) {
        lock.lock()
        defer { lock.unlock() }
        let isNew = refusal == nil
        refusal = (error, freeByteCount)
        hasRefused.store(true, ordering: .relaxed)
        if isNew { note(.diskFull(error)) }
    }

    /// Notes that something was written, with so many bytes free: more than when something was refused is space again.
    func noteWritten(freeByteCount: UInt64?) {
        lock.lock()
        defer { lock.unlock() }
        if let then = refusal?.freeByteCount, let freeByteCount, freeByteCount <= then { return }
        forgetRefusal()
    }

    /// Notes that there is space again.
    func noteSpace() { lock.withLock { forgetRefusal() } }

    private func forgetRefusal() {
        guard refusal != nil else { return }
        refusal = nil
        hasRefused.store(false, ordering: .relaxed)
        note(.spaceCameBack)
    }

    /// Why something was refused for want of space; nil once there is space again.
    var fullDisk: LogError? { lock.withLock { refusal?.error } }

    // MARK: Maintenance

    /// Notes how the newest checkpoint or compaction ended.
    func noteMaintenance(_ failure: LogError?) {
        lock.withLock { newestMaintenanceFailure = failure }
        guard let failure, failure.code != .fullDisk, failure.code != .closed else { return }
        note(.maintenanceFailed(failure))
    }

    /// Why the newest checkpoint or compaction failed, if it did.
    var maintenanceFailure: LogError? { lock.withLock { newestMaintenanceFailure } }

    /// Bytes of the store's files, as the newest checkpoint found them: to be read without waiting for a disk.
    var space: SpaceFigures {
        get { lock.withLock { newestSpace } }
        set { lock.withLock { newestSpace = newValue } }
    }
}
