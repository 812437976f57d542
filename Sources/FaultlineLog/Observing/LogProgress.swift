import Synchronization

/// How far the log has come, for frames of other files that say so.
final class LogProgress: Sendable {
    private let durableSequence = Atomic<UInt64>(0)
    private let acknowledgedSequence = Atomic<UInt64>(0)

    /// Newest transaction that a sync has covered, with all before it.
    var durable: UInt64 { durableSequence.load(ordering: .acquiring) }

    /// Newest transaction that is visible.
    var acknowledged: UInt64 { max(durable, acknowledgedSequence.load(ordering: .acquiring)) }

    /// Begins, or begins again, at a transaction behind which there is none.
    func begin(at sequence: UInt64) {
        durableSequence.store(sequence, ordering: .releasing)
        acknowledgedSequence.store(sequence, ordering: .releasing)
    }

    /// Notes that a sync has covered a transaction.
    func noteDurable(_ sequence: UInt64) { durableSequence.store(sequence, ordering: .releasing) }

    /// Notes that a transaction is visible.
    func noteAcknowledged(_ sequence: UInt64) { acknowledgedSequence.store(sequence, ordering: .releasing) }
}
