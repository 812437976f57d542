/// The result of a commit.
package struct CommitReceipt: Sendable {
    package let sequence: UInt64
    package let transaction: TransactionID
    /// Nanoseconds since 1970; never below that of an earlier transaction.
    package let wallNanoseconds: Int64
    /// A state that holds the transaction.
    package let snapshot: Snapshot
}
