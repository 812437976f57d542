/// A place in the log where a transaction ends: the log may be cut there.
package struct LogPlace: Sendable, Equatable, Codable {
    package let sequence: UInt64
    /// Never below that of an earlier transaction.
    package let wallNanoseconds: Int64
    /// The clock's time, even if earlier transactions have later ones.
    package let clockNanoseconds: Int64
    /// The hot segment with the last frame.
    package let segment: UInt64
    /// The end of that frame.
    package let offset: UInt64
    /// headCRC of that frame; 0 if the segment has none before the place.
    let head: UInt32

    /// Whether a decoded place is possible.
    package var isInRange: Bool {
        sequence <= Limits.countMax && segment <= Limits.fileNumberMax && offset <= Limits.countMax && offset & 7 == 0
    }

    init(_ record: TransactionRecord, in segment: UInt64, at offset: UInt64, head: UInt32) {
        sequence = record.sequence
        wallNanoseconds = record.wallNanoseconds
        clockNanoseconds = record.clockNanoseconds
        self.segment = segment
        self.offset = offset
        self.head = head
    }

    /// The place of a checkpoint: the newest transaction of its tables ends there.
    init(_ checkpoint: CheckpointPosition) {
        sequence = checkpoint.sequence
        wallNanoseconds = checkpoint.wallNanoseconds
        clockNanoseconds = checkpoint.wallNanoseconds
        segment = checkpoint.segment
        offset = checkpoint.offset
        head = checkpoint.previousHead
    }
}
