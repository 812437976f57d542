package import FaultlineLog

/// The switch of a migration whose previous state is kept, in the catalog: distinguishes the migration's transactions
/// from those of users.
///
/// It is valid only as long as the log keeps that state; the record of an earlier migration does not count.
package struct SwitchRecord: Codable, Sendable, Equatable {
    /// The newest transaction of the previous state.
    package let sequence: UInt64
    /// The migration's own transactions since: the switch, and the deletion of old data.
    package var ownCount: UInt64
    /// The version of the previous state, and the one that the switch put in force.
    package let from: String
    package let to: String

    package init(sequence: UInt64, from: String, to: String) {
        self.sequence = sequence
        ownCount = 1
        self.from = from
        self.to = to
    }

    /// The switch after the state that a log keeps; nil if it keeps none, or there was no switch.
    package static func read(of kept: KeptStateFigures?, in snapshot: Snapshot) throws(StoreError) -> SwitchRecord? {
        guard let kept,
            let record = try StoredCatalog.entry(
                SwitchRecord.self, StoredCatalog.RecordNumber.lastSwitch, in: snapshot),
            record.sequence == kept.sequence
        else { return nil }
        return record
    }

    /// The number of users' transactions after the switch, in a snapshot.
    package func followerCount(in snapshot: Snapshot) -> UInt64 {
        let own = sequence.addingReportingOverflow(ownCount)
        return own.overflow ? 0 : snapshot.sequence - min(own.partialValue, snapshot.sequence)
    }

    /// Counts a transaction as the migration's own, if a switch is recorded.
    package static func countOwn(in transaction: inout Transaction) throws(StoreError) {
        guard
            var record = try StoredCatalog.entry(
                SwitchRecord.self, StoredCatalog.RecordNumber.lastSwitch, in: transaction)
        else { return }
        record.ownCount &+= 1
        try StoredCatalog.put(record, StoredCatalog.RecordNumber.lastSwitch, in: &transaction)
    }
}
