package import FaultlineDisk

/// Collects the invariants that a store breaks where the simulation cannot ask: in recovery and in salvage.
///
/// `options.invariantWatch = watch.note` begins it.
package final class InvariantWatch: Sendable {
    private let guardian = EngineLock()
    // Safe because it is guarded by the lock.
    nonisolated(unsafe) private var first: BrokenInvariant?

    package init() {}

    /// Keeps the first broken invariant.
    package func note(_ broken: BrokenInvariant) {
        guardian.withLock { if first == nil { first = broken } }
    }

    /// Throws the first broken invariant, if there is one.
    package func check() throws(BrokenInvariant) {
        if let first = guardian.withLock({ first }) { throw first }
    }
}
