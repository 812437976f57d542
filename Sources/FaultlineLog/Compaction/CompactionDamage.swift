import FaultlineDisk

/// The damaged places that compaction met since the store was opened, whoever asked for it.
///
/// Concurrency: guarded by its lock, under which no other is taken.
// Safe because mutable state is guarded by the lock.
final class CompactionDamage: @unchecked Sendable {
    /// Places that are kept; a store that has more needs no longer list.
    private static let countMax = 100

    private let lock = EngineLock()
    private var known: [CompactionReport.Damage] = []

    /// All that are known, those met first before the others.
    var places: [CompactionReport.Damage] { lock.withLock { known } }

    /// Notes a place; one that is known is not noted twice.
    func note(_ place: CompactionReport.Damage) {
        lock.withLock {
            guard known.count < Self.countMax, !known.contains(place) else { return }
            known.append(place)
        }
    }
}
