import FaultlineDisk

/// All holds of a log: moves on those that nobody uses, lets pins expire, and tells what each costs.
///
/// A snapshot costs something only once what it sees was replaced and its files were dropped. So holds are looked at
/// when files were dropped and are still in use: behind checkpoints, and now and then as long as there are such files.
///
/// Concurrency: guarded by its lock, under which no other is taken.
// Safe because mutable state is guarded by the lock.
final class SnapshotHolds: @unchecked Sendable {
    /// A file that was dropped and that somebody still needs.
    struct HeldFile {
        let number: UInt64
        let byteCount: UInt64
        /// The transactions whose snapshots may need it.
        let sequences: ClosedRange<UInt64>
    }

    private struct Entry {
        let hold: SnapshotHold
        var label: String
        /// Nil where the hold may be moved on.
        var limits: PinLimits?
        /// When it was pinned, or last seen to be used.
        var since: Int64
    }

    /// A snapshot that was not used for so many nanoseconds is taken: 60 s.
    static let idleNanoseconds: Int64 = 60_000_000_000
    /// Where it keeps more than this part of what is live, after so many: 5 s.
    static let liveShare: UInt64 = 4
    static let idleNanosecondsWhereLarge: Int64 = 5_000_000_000

    private let lock = EngineLock()
    private let clock: Clock
    private var entries: [ObjectIdentifier: Entry] = [:]

    init(_ clock: Clock) {
        self.clock = clock
    }

    func add(_ hold: SnapshotHold, _ label: String) {
        let now = clock.wallNanoseconds()
        lock.withLock { entries[ObjectIdentifier(hold)] = Entry(hold: hold, label: label, limits: nil, since: now) }
    }

    func remove(_ hold: SnapshotHold) {
        let removed = lock.withLock { entries.removeValue(forKey: ObjectIdentifier(hold)) }
        // The last reference to its snapshot goes without the lock.
        withExtendedLifetime(removed) {}
    }

    /// Pins a hold, or, with nil, lets it be moved on again.
    func setLimits(_ limits: PinLimits?, of hold: SnapshotHold, _ label: String) {
        let now = clock.wallNanoseconds()
        lock.withLock {
            entries[ObjectIdentifier(hold)]?.limits = limits
            entries[ObjectIdentifier(hold)]?.label = label
            entries[ObjectIdentifier(hold)]?.since = now
        }
    }

    /// Takes the snapshots that are not used and cost too much.
    ///
    /// - Parameters:
    ///   - files: What was dropped and is still in use.
    ///   - liveByteCount: Bytes of segments that are live.
    func moveOn(_ files: [HeldFile], liveByteCount: UInt64) {
        guard !files.isEmpty else { return }
        let now = clock.wallNanoseconds()
        var taken: [Snapshot] = []
        lock.lock()
        defer {
            lock.unlock()
            taken.removeAll()
        }
        for (key, entry) in entries where !entry.hold.isTaken {
            let wasUsed = entry.hold.takeUse()
            // A clock that was set back is no reason to wait for ever.
            if entry.limits == nil && wasUsed || now < entry.since { entries[key]?.since = now }
            let byteCount = Self.pinned(by: entry.hold.sequence, files)
            guard byteCount > 0 else { continue }
            if let limits = entry.limits {
                guard now - entry.since >= limits.nanoseconds || byteCount > limits.byteCount else { continue }
                if let snapshot = entry.hold.take(isExpiring: true) { taken.append(snapshot) }
            } else if !wasUsed {
                let isLarge = byteCount > liveByteCount / Self.liveShare
                guard now - entry.since >= (isLarge ? Self.idleNanosecondsWhereLarge : Self.idleNanoseconds) else {
                    continue
                }
                if let snapshot = entry.hold.take(isExpiring: false) { taken.append(snapshot) }
            }
        }
    }

    /// The holds that keep something, or were pinned; the oldest state first.
    func pins(_ files: [HeldFile]) -> [SnapshotPin] {
        let all = lock.withLock { Array(entries.values) }
        return all.compactMap { entry in
            let byteCount = entry.hold.isTaken ? 0 : Self.pinned(by: entry.hold.sequence, files)
            guard entry.limits != nil || byteCount > 0 else { return nil }
            return SnapshotPin(
                label: entry.label, isExplicit: entry.limits != nil, sinceWallNanoseconds: entry.since,
                sequence: entry.hold.sequence, pinnedByteCount: byteCount, isExpired: entry.hold.isTaken)
        }.sorted { ($0.sequence, $0.sinceWallNanoseconds) < ($1.sequence, $1.sinceWallNanoseconds) }
    }

    private static func pinned(by sequence: UInt64, _ files: [HeldFile]) -> UInt64 {
        files.reduce(0) { $0 + ($1.sequences.contains(sequence) ? $1.byteCount : 0) }
    }
}
