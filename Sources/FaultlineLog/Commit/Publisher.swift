import FaultlineDisk

/// The state that new snapshots show, and the failure after which it no longer changes.
///
/// Concurrency: guarded by its lock, which is held for a few instructions and under which no other is taken.
// Safe because mutable state is guarded by the lock.
final class Publisher: @unchecked Sendable {
    private let lock = EngineLock()
    @exclusivity(unchecked) private var current: Snapshot
    @exclusivity(unchecked) private var currentFailure: LogError?
    private let watch: StoreWatch
    let listeners = SaveListeners()

    init(_ snapshot: Snapshot, watch: StoreWatch) {
        current = snapshot
        self.watch = watch
    }

    var snapshot: Snapshot { lock.withLock { current } }

    /// Whether a snapshot is the one that new readers get.
    @inline(__always)
    func publishes(_ snapshot: Unmanaged<Snapshot>) -> Bool {
        lock.withLock { Unmanaged.passUnretained(current).toOpaque() == snapshot.toOpaque() }
    }

    /// Whether a write or sync failed.
    var hasFailed: Bool { lock.withLock { currentFailure != nil } }

    /// Set once a write or sync failed.
    var failure: LogError? { lock.withLock { currentFailure } }

    /// Makes a transaction's state the one that new snapshots see.
    func publish(sequence: UInt64, tables: TableSet) -> Snapshot {
        lock.lock()
        let old = current
        let new = Snapshot(sequence: sequence, tables: tables, indexes: old.indexes, files: old.files)
        current = new
        lock.unlock()
        listeners.notify()
        // `old` may be the last reference to many pages: they are freed here, without the lock.
        return new
    }

    /// Publishes a state that was opened again, unless it is older than the published one.
    func show(_ opened: Snapshot) {
        replace { $0.sequence > opened.sequence ? $0 : opened }
        listeners.notify()
    }

    /// Replaces the files that new snapshots read from.
    func update(files change: (FileTable) -> FileTable) {
        replace { Snapshot(sequence: $0.sequence, tables: $0.tables, indexes: $0.indexes, files: change($0.files)) }
    }

    /// Changes the index states, which are kept here.
    ///
    /// - Returns: The changed states.
    @discardableResult
    func changeIndexes(_ change: (inout IndexSet) -> Void) -> IndexSet {
        lock.lock()
        let old = current
        var indexes = old.indexes
        change(&indexes)
        current = Snapshot(sequence: old.sequence, tables: old.tables, indexes: indexes, files: old.files)
        lock.unlock()
        withExtendedLifetime(old) {}
        return indexes
    }

    private func replace(_ change: (Snapshot) -> Snapshot) {
        lock.lock()
        let old = current
        current = change(old)
        lock.unlock()
        withExtendedLifetime(old) {}
    }

    /// Records the first failure; it stays.
    func fail(_ error: LogError) {
        let isFirst = lock.withLock {
            defer { if currentFailure == nil { currentFailure = error } }
            return currentFailure == nil
        }
        if isFirst { watch.note(.poisoned(error)) }
    }
}
