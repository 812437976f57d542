import Synchronization

/// The newest transactions of the log, which frames of other files record.
final class LogProgress: Sendable {
    private let durableSequence = Atomic<UInt64>(0)
    private let acknowledgedSequence = Atomic<UInt64>(0)

    /// Newest transaction that a sync has covered, with all before it.
    var durable: UInt64 { durableSequence.load(ordering: .acquiring) }

    /// Newest transaction that is visible.
    var acknowledged: UInt64 { max(durable, acknowledgedSequence.load(ordering: .acquiring)) }

    /// Sets both to the newest transaction of an opened or restored state.
    func begin(at sequence: UInt64) {
        durableSequence.store(sequence, ordering: .releasing)
        acknowledgedSequence.store(sequence, ordering: .releasing)
    }

    /// Records that a sync has covered a transaction.
    func noteDurable(_ sequence: UInt64) { durableSequence.store(sequence, ordering: .releasing) }

    /// Records that a transaction is visible.
    func noteAcknowledged(_ sequence: UInt64) { acknowledgedSequence.store(sequence, ordering: .releasing) }
}
