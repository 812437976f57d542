import Glibc
import Synchronization

/// A place where somebody keeps a snapshot between two uses, and out of which the log may take it meanwhile.
///
/// Who keeps one uses it between `begin` and `end`; in that time it stays. In between, the log may look: a snapshot that
/// nobody has used for a while is taken, if its owner has nothing that is of this state, and the next `begin` says so. A
/// hold that is pinned is taken only when it has outlived its limits, and then `begin` throws.
///
/// Concurrency: `begin`, `end` and `snapshot` are of one thread at a time, the owner's; the rest is the log's. They meet
/// in `state`: whoever moves it from `idle` has the snapshot to itself.
// Safe because of what the comment above says.
package final class SnapshotHold: @unchecked Sendable {
    private enum State {
        /// Nobody uses the snapshot.
        static let idle: UInt8 = 0
        /// The owner does.
        static let inUse: UInt8 = 1
        /// The log is looking at it, for a few instructions.
        static let watched: UInt8 = 2
        /// The log has taken it.
        static let taken: UInt8 = 3
        /// The log has taken it, and its owner asked for no other.
        static let expired: UInt8 = 4
    }

    private let state = Atomic<UInt8>(State.idle)
    private let sequenceNumber: Atomic<UInt64>
    private let wasUsed = Atomic<Bool>(true)
    private var kept: Snapshot
    /// Uses that are nested, of the owner.
    private var depth = 0
    /// Whether the owner has nothing that is of the snapshot's state; asked while it uses none.
    private let isFree: @Sendable () -> Bool

    init(_ snapshot: Snapshot, isFree: @escaping @Sendable () -> Bool) {
        self.isFree = isFree
        kept = snapshot
        sequenceNumber = Atomic(snapshot.sequence)
    }

    /// The newest transaction that the snapshot sees, or saw before it was taken.
    package var sequence: UInt64 { sequenceNumber.load(ordering: .relaxed) }

    // MARK: The owner's

    /// Begins to use the snapshot; uses may be nested, and each needs its `end`.
    ///
    /// - Returns: False if it was taken: the owner is to put another one in place before anything else.
    /// - Throws: `.expired` if a pin has outlived its limits; then no `end` is due.
    @inline(__always)
    package func begin() throws(LogError) -> Bool {
        if depth > 0 {
            depth &+= 1
            return true
        }
        guard
            state.compareExchange(expected: State.idle, desired: State.inUse, ordering: .acquiring).exchanged
        else { return try beginSlowly() }
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
    @inline(__always)
    package func end() {
        depth &-= 1
        guard depth == 0 else { return }
        wasUsed.store(true, ordering: .relaxed)
        state.store(State.idle, ordering: .releasing)
    }

    /// The snapshot, to be asked for between `begin` and `end`.
    @inline(__always)
    package var snapshot: Snapshot {
        assert(depth > 0, "A held snapshot is used between begin and end.")
        return kept
    }

    /// Puts another snapshot in place, between `begin` and `end`.
    package func put(_ snapshot: Snapshot) {
        assert(depth > 0, "A held snapshot is replaced between begin and end.")
        kept = snapshot
        sequenceNumber.store(snapshot.sequence, ordering: .relaxed)
    }

    /// Ends that a pin has expired: the next `begin` returns false.
    ///
    /// - Returns: Whether it had.
    package func forgetExpiry() -> Bool {
        state.compareExchange(expected: State.expired, desired: State.taken, ordering: .acquiringAndReleasing).exchanged
    }

    // MARK: The log's

    /// Whether it was used since this was last asked.
    func takeUse() -> Bool {
        if state.load(ordering: .relaxed) == State.inUse { return true }
        return wasUsed.exchange(false, ordering: .relaxed)
    }

    /// Whether the snapshot was taken out.
    var isTaken: Bool { state.load(ordering: .relaxed) >= State.taken }

    /// Takes the snapshot out, unless it is being used or its owner needs it.
    ///
    /// - Parameter isExpiring: Whether the owner is to be refused from now on.
    /// - Returns: What was taken, which may be the last reference to many pages.
    func take(isExpiring: Bool) -> Snapshot? {
        guard
            state.compareExchange(expected: State.idle, desired: State.watched, ordering: .acquiring).exchanged
        else { return nil }
        // It may have been used since it was found to be idle.
        if !isExpiring, wasUsed.load(ordering: .relaxed) || !isFree() {
            state.store(State.idle, ordering: .releasing)
            return nil
        }
        let old = kept
        kept = .nothing
        state.store(isExpiring ? State.expired : State.taken, ordering: .releasing)
        return old
    }
}

extension Snapshot {
    /// A state of a store without anything in it.
    fileprivate static let nothing = Snapshot(
        sequence: 0, tables: TableSet(version: 0), indexes: .empty, files: FileTable([]))
}
