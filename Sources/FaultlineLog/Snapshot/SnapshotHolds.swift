import FaultlineDisk

/// All holds of a log: takes idle snapshots, lets pins expire, and reports the cost of each.
///
/// An old snapshot keeps memory of old tables and indexes, and files that were dropped since. So holds are checked
/// after checkpoints, and periodically while one is old.
///
/// Concurrency: guarded by its lock; lock order: the checkpointer's, this, the owners'.
// Safe because mutable state is guarded by the lock.
final class SnapshotHolds: @unchecked Sendable {
    /// A dropped file that is still in use.
    struct HeldFile {
        let number: UInt64
        let byteCount: UInt64
        /// The transactions whose snapshots may need it.
        let sequences: ClosedRange<UInt64>
    }

    private struct Entry {
        let hold: SnapshotHold
        var label: String
        /// Nil if the hold may be taken when idle.
        var limits: PinLimits?
        /// The time when it was pinned, or last found to have been used.
        var since: (wall: Int64, monotonic: UInt64)

        func age(at now: UInt64) -> UInt64 { now - min(since.monotonic, now) }
    }

    /// The idle time after which a snapshot is taken: 60 s.
    static let idleNanoseconds: UInt64 = 60_000_000_000
    /// If its dropped files exceed this part of the live bytes, a shorter idle time applies: 5 s.
    static let liveShare: UInt64 = 4
    static let idleNanosecondsWhereLarge: UInt64 = 5_000_000_000

    private let lock = EngineLock()
    private let clock: Clock
    /// The pages that all owners share.
    let pages: RecordPages
    private var entries: [ObjectIdentifier: Entry] = [:]
    private var held: [HeldFile] = []

    init(_ clock: Clock, _ pages: RecordPages) {
        self.clock = clock
        self.pages = pages
    }

    private var now: (wall: Int64, monotonic: UInt64) { (clock.wallNanoseconds(), clock.monotonicNanoseconds()) }

    func add(_ hold: SnapshotHold, _ label: String) {
        let entry = Entry(hold: hold, label: label, limits: nil, since: now)
        lock.withLock { entries[ObjectIdentifier(hold)] = entry }
    }

    func remove(_ hold: SnapshotHold) {
        let removed = lock.withLock { entries.removeValue(forKey: ObjectIdentifier(hold)) }
        // The last reference to its snapshot is released without the lock.
        withExtendedLifetime(removed) {}
    }

    /// Pins a hold, or, with nil, lets it be taken again.
    func setLimits(_ limits: PinLimits?, of hold: SnapshotHold, _ label: String) {
        let now = now
        lock.withLock {
            entries[ObjectIdentifier(hold)]?.limits = limits
            entries[ObjectIdentifier(hold)]?.label = label
            entries[ObjectIdentifier(hold)]?.since = now
        }
    }

    /// Takes the old snapshots that are idle, and those whose pins exceed their limits.
    ///
    /// - Parameters:
    ///   - files: Dropped files that are still in use.
    ///   - liveByteCount: Live bytes of the segments.
    ///   - newest: The newest transaction that snapshots see.
    /// - Returns: Whether old snapshots are left, so that this must be called again.
    func moveOn(_ files: [HeldFile], liveByteCount: UInt64, newest: UInt64) -> Bool {
        var taken: [Snapshot] = []
        lock.lock()
        defer {
            lock.unlock()
            // These may be the last references to many pages.
            taken.removeAll()
        }
        held = files
        var isLeft = false
        // The clock is read only if there are holds.
        let now = entries.isEmpty ? (wall: 0, monotonic: 0) : now
        for (key, entry) in entries where !entry.hold.isTaken && entry.hold.sequence < newest {
            let wasUsed = entry.hold.takeUse()
            let byteCount = Self.pinned(by: entry.hold.sequence, files)
            var snapshot: Snapshot?
            if let limits = entry.limits {
                if byteCount > limits.byteCount || byteCount > 0 && entry.age(at: now.monotonic) >= limits.nanoseconds {
                    snapshot = entry.hold.take(isExpiring: true)
                }
            } else if wasUsed {
                entries[key]?.since = now
            } else {
                let isLarge = byteCount > liveByteCount / Self.liveShare
                if entry.age(at: now.monotonic) >= (isLarge ? Self.idleNanosecondsWhereLarge : Self.idleNanoseconds) {
                    snapshot = entry.hold.take(isExpiring: false)
                }
            }
            if let snapshot { taken.append(snapshot) } else { isLeft = true }
        }
        return isLeft
    }

    /// The holds that keep dropped segments, or were pinned; the oldest state first.
    ///
    /// - Parameter isInUse: Whether a file is still in use.
    /// - Returns: A description of each.
    func pins(_ isInUse: (UInt64) -> Bool) -> [SnapshotPin] {
        lock.lock()
        let all = Array(entries.values)
        let files = held.filter { isInUse($0.number) }
        lock.unlock()
        return all.compactMap { entry in
            let byteCount = entry.hold.isTaken ? 0 : Self.pinned(by: entry.hold.sequence, files)
            guard entry.limits != nil || byteCount > 0 else { return nil }
            return SnapshotPin(
                label: entry.label, isExplicit: entry.limits != nil, sinceWallNanoseconds: entry.since.wall,
                sequence: entry.hold.sequence, pinnedByteCount: byteCount, isExpired: entry.hold.isTaken)
        }.sorted { ($0.sequence, $0.sinceWallNanoseconds) < ($1.sequence, $1.sinceWallNanoseconds) }
    }

    private static func pinned(by sequence: UInt64, _ files: [HeldFile]) -> UInt64 {
        files.reduce(0) { $0 + ($1.sequences.contains(sequence) ? $1.byteCount : 0) }
    }
}
