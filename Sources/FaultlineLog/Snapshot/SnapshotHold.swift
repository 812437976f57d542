import Glibc
public import Synchronization

/// Holds a snapshot for an owner between uses; the log may take it while it is not in use.
///
/// The owner uses it between `begin` and `end`; during that time it stays. In between, the log may take a snapshot that
/// was not used for a while, if its owner holds nothing of this state; the next `begin` then returns false. A pinned
/// hold is taken only when it exceeds its limits, and then `begin` throws.
///
/// Concurrency: `begin`, `end` and `snapshot` are for one thread at a time, the owner's; the rest is for the log. They
/// synchronize by `state`: the thread that moves it from `idle` has exclusive use of the snapshot.
// Safe because of the rules in the comment above.
@usableFromInline
package final class SnapshotHold: @unchecked Sendable {
    @usableFromInline
    enum State {
        /// The snapshot is not in use.
        @inlinable static var idle: UInt8 { 0 }
        /// The owner uses the snapshot.
        @inlinable static var inUse: UInt8 { 1 }
        /// The log is examining it, for a few instructions.
        static let watched: UInt8 = 2
        /// The log has taken it.
        static let taken: UInt8 = 3
        /// The log has taken it because it exceeded its limits, and its owner has not replaced it yet.
        static let expired: UInt8 = 4
    }

    @usableFromInline let state = Atomic<UInt8>(State.idle)
    private let sequenceNumber: Atomic<UInt64>
    @usableFromInline let wasUsed = Atomic<Bool>(true)
    /// Retained; a look-up takes no further reference.
    @exclusivity(unchecked) private var kept: Unmanaged<Snapshot>
    /// The depth of the owner's nested uses.
    @usableFromInline @exclusivity(unchecked) var depth = 0
    /// How often the snapshot was replaced: the same number is the same snapshot.
    @inlinable @inline(__always) package var changeCount: Int { changes }
    @usableFromInline @exclusivity(unchecked) var changes = 0
    /// Whether the owner holds nothing of the snapshot's state; called while it is not in use.
    private let isFree: @Sendable () -> Bool
    private let pages: RecordPages

    init(_ snapshot: Snapshot, pages: RecordPages, isFree: @escaping @Sendable () -> Bool) {
        self.isFree = isFree
        self.pages = pages
        kept = .passRetained(snapshot)
        sequenceNumber = Atomic(snapshot.sequence)
    }

    deinit { kept.release() }

    /// The newest transaction that the snapshot sees, or saw before it was taken.
    package var sequence: UInt64 { sequenceNumber.load(ordering: .relaxed) }

    // MARK: For the owner

    /// Begins to use the snapshot; uses may be nested, and each needs its `end`.
    ///
    /// - Returns: False if it was taken: the owner must first replace it by `put`.
    /// - Throws: `.expired` if a pin exceeded its limits; then do not call `end`.
    package func begin() throws(LogError) -> Bool {
        if beginAtOnce() { return true }
        return try beginSlowly()
    }

    /// Begins to use the snapshot, if the log has neither taken it nor is examining it.
    ///
    /// - Returns: False if the use has not begun: call `begin`.
    @inlinable @inline(__always)
    package func beginAtOnce() -> Bool {
        if depth > 0 {
            depth &+= 1
            return true
        }
        guard state.compareExchange(expected: State.idle, desired: State.inUse, ordering: .acquiring).exchanged else {
            return false
        }
        depth = 1
        return true
    }

    @inline(never)
    private func beginSlowly() throws(LogError) -> Bool {
        while true {
            let (wasTaken, now) = state.compareExchange(
                expected: State.taken, desired: State.inUse, ordering: .acquiring)
            if wasTaken {
                depth = 1
                return false
            }
            if now == State.expired {
                throw LogError(
                    .expired,
                    "The context was pinned to a state of the store for longer, or at a larger cost in disk space, than "
                        + "it was allowed to. Unpin it to go on with the newest state.")
            }
            if state.compareExchange(expected: State.idle, desired: State.inUse, ordering: .acquiring).exchanged {
                depth = 1
                return true
            }
            sched_yield()
        }
    }

    /// Ends a use.
    @inlinable @inline(__always)
    package func end() {
        depth &-= 1
        guard depth == 0 else { return }
        wasUsed.store(true, ordering: .relaxed)
        state.store(State.idle, ordering: .releasing)
    }

    /// The snapshot, valid between `begin` and `end`.
    @inline(__always)
    package var snapshot: Snapshot {
        assert(depth > 0, "A held snapshot is used between begin and end.")
        return kept.takeUnretainedValue()
    }

    /// The location of an object's record, between `begin` and `end`: as `Snapshot.location`, and takes no reference.
    package func location(of id: RecordID, in table: TableID) throws(LogError) -> Location {
        assert(depth > 0, "A held snapshot is used between begin and end.")
        let resident = kept._withUnsafeGuaranteedRef { $0.tables.residentLocation(of: id, in: table) }
        if let resident { return resident }
        return try snapshot.location(of: id, in: table)
    }

    /// Reads a record, between `begin` and `end`: as `Snapshot.read`, from pages in memory if it is there, and takes no
    /// reference.
    package func read(
        _ id: RecordID, in table: TableID, at location: Location, into target: UnsafeMutableRawBufferPointer
    ) throws(LogError) -> RecordRead {
        assert(depth > 0, "A held snapshot is used between begin and end.")
        let file = kept._withUnsafeGuaranteedRef { $0.files.find(location.segment) }
        guard let file else { return try snapshot.read(id, in: table, at: location, into: target) }
        return try RecordFile.read(id, in: table, at: location, of: file, by: pages, into: target)
    }

    /// The object that has a key of a unique index, between `begin` and `end`: as `Snapshot.firstID`, and takes no
    /// reference.
    package func firstID(in index: IndexDefinition, key: UnsafeRawBufferPointer) throws(LogError) -> RecordID? {
        assert(depth > 0, "A held snapshot is used between begin and end.")
        let (state, sequence) = kept._withUnsafeGuaranteedRef { ($0.indexes.find(index.id), $0.sequence) }
        guard let state else { return nil }
        do throws(LogError) { return try state.firstID(key: key, at: sequence) } catch {
            throw state.pointee.noting(error)
        }
    }

    /// The snapshot, for a comparison of its identity.
    @inline(__always) var reference: Unmanaged<Snapshot> { kept }

    /// Replaces the snapshot, between `begin` and `end`.
    package func put(_ snapshot: Snapshot) {
        assert(depth > 0, "A held snapshot is replaced between begin and end.")
        let old = kept
        kept = .passRetained(snapshot)
        old.release()
        changes &+= 1
        sequenceNumber.store(snapshot.sequence, ordering: .relaxed)
    }

    /// Releases the snapshot: the next `begin` returns false.
    ///
    /// - Returns: False if the snapshot is in use, and stays.
    package func drop() -> Bool {
        while true {
            let (isMine, now) = state.compareExchange(
                expected: State.idle, desired: State.watched, ordering: .acquiring)
            if isMine { break }
            if now != State.watched { return now != State.inUse }
            sched_yield()
        }
        let old = kept
        kept = .passRetained(.nothing)
        state.store(State.taken, ordering: .releasing)
        old.release()
        return true
    }

    /// Resets the expiry of a pin: the next `begin` returns false.
    ///
    /// - Returns: Whether it had expired.
    package func forgetExpiry() -> Bool {
        state.compareExchange(expected: State.expired, desired: State.taken, ordering: .acquiringAndReleasing).exchanged
    }

    // MARK: For the log

    /// Whether it was used since the last call.
    func takeUse() -> Bool {
        if state.load(ordering: .relaxed) == State.inUse { return true }
        return wasUsed.exchange(false, ordering: .relaxed)
    }

    /// Whether the snapshot was taken out.
    var isTaken: Bool { state.load(ordering: .relaxed) >= State.taken }

    /// Takes the snapshot, unless it is in use or its owner needs it.
    ///
    /// - Parameter isExpiring: Whether `begin` must throw from now on.
    /// - Returns: The snapshot, which may be the last reference to many pages.
    func take(isExpiring: Bool) -> Snapshot? {
        guard
            state.compareExchange(expected: State.idle, desired: State.watched, ordering: .acquiring).exchanged
        else { return nil }
        // It may have been used since it was found to be idle.
        if !isExpiring, wasUsed.load(ordering: .relaxed) || !isFree() {
            state.store(State.idle, ordering: .releasing)
            return nil
        }
        let old = kept.takeRetainedValue()
        kept = .passRetained(.nothing)
        state.store(isExpiring ? State.expired : State.taken, ordering: .releasing)
        return old
    }
}

extension Snapshot {
    /// An empty state of a store.
    fileprivate static let nothing = Snapshot(
        sequence: 0, tables: TableSet(version: 0), indexes: .empty, files: FileTable([]))
}
