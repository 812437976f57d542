import FaultlineDisk

/// The damaged places that any compaction met since the store was opened.
///
/// Concurrency: guarded by its lock, under which no other is taken.
// Safe because mutable state is guarded by the lock.
final class CompactionDamage: @unchecked Sendable {
    /// The number of places kept; a store with more damage needs no longer list.
    private static let countMax = 100

    private let lock = EngineLock()
    private var known: [CompactionReport.Damage] = []

    /// All known places, in the order of discovery.
    var places: [CompactionReport.Damage] { lock.withLock { known } }

    /// Adds a place, unless it is known.
    func note(_ place: CompactionReport.Damage) {
        lock.withLock {
            guard known.count < Self.countMax, !known.contains(place) else { return }
            known.append(place)
        }
    }
}
