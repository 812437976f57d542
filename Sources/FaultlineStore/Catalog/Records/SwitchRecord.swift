package import FaultlineLog

/// The switch of a migration whose state before is kept, as the catalog has it: tells the migration's own transactions
/// from those of users.
///
/// It counts only as long as the log keeps that state; what an earlier migration left of it says nothing.
package struct SwitchRecord: Codable, Sendable, Equatable {
    /// The newest transaction of the state before.
    package let sequence: UInt64
    /// Transactions since that were the migration's own: the switch, and the deletion of what it left.
    package var ownCount: UInt64
    /// Version of the state before, and the one that the switch put in force.
    package let from: String
    package let to: String

    package init(sequence: UInt64, from: String, to: String) {
        self.sequence = sequence
        ownCount = 1
        self.from = from
        self.to = to
    }

    /// That of the state that a log keeps; nil if it keeps none, or the switch did not come.
    package static func read(of kept: KeptStateFigures?, in snapshot: Snapshot) throws(StoreError) -> SwitchRecord? {
        guard let kept,
            let record = try StoredCatalog.entry(
                SwitchRecord.self, StoredCatalog.RecordNumber.lastSwitch, in: snapshot),
            record.sequence == kept.sequence
        else { return nil }
        return record
    }

    /// How many transactions of users came behind the switch that a snapshot has.
    package func followerCount(in snapshot: Snapshot) -> UInt64 {
        let own = sequence.addingReportingOverflow(ownCount)
        return own.overflow ? 0 : snapshot.sequence - min(own.partialValue, snapshot.sequence)
    }

    /// Counts a transaction as the migration's own, where a switch is written down.
    package static func countOwn(in transaction: inout Transaction) throws(StoreError) {
        guard
            var record = try StoredCatalog.entry(
                SwitchRecord.self, StoredCatalog.RecordNumber.lastSwitch, in: transaction)
        else { return }
        record.ownCount &+= 1
        try StoredCatalog.put(record, StoredCatalog.RecordNumber.lastSwitch, in: &transaction)
    }
}
