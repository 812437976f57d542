/// The record that closes a transaction: `docs/FileFormat.md` section 6.1.
package struct TransactionRecord: Sendable {
    package static let fixedByteCount = 76

    package var sequence: UInt64
    package var transaction: TransactionID
    /// Never below that of an earlier transaction, so that times have the order of transactions.
    package var wallNanoseconds: Int64
    /// Records of the transaction, without this one.
    package var recordCount: UInt32
    package var firstVersionCount: UInt32
    package var laterVersionCount: UInt32
    package var deleteCount: UInt32
    /// The position of the transaction's first frame.
    package var segment: UInt64
    package var offset: UInt64
    /// The clock's time, even if earlier transactions have later ones: so a jump into the future does not last.
    package var clockNanoseconds: Int64
    package var author: [UInt8]

    var byteCount: Int { Self.fixedByteCount + author.count }

    init(
        sequence: UInt64, transaction: TransactionID, wallNanoseconds: Int64, recordCount: UInt32,
        firstVersionCount: UInt32,
        laterVersionCount: UInt32, deleteCount: UInt32, segment: UInt64, offset: UInt64, clockNanoseconds: Int64,
        author: [UInt8]
    ) {
        self.sequence = sequence
        self.transaction = transaction
        self.wallNanoseconds = wallNanoseconds
        self.recordCount = recordCount
        self.firstVersionCount = firstVersionCount
        self.laterVersionCount = laterVersionCount
        self.deleteCount = deleteCount
        self.segment = segment
        self.offset = offset
        self.clockNanoseconds = clockNanoseconds
        self.author = author
    }

    package init?(reading payload: UnsafeRawBufferPointer) {
        guard payload.count >= Self.fixedByteCount, let bytes = payload.baseAddress else { return nil }
        sequence = bytes.u64(0)
        transaction = TransactionID(high: bytes.u64(8), low: bytes.u64(16))
        wallNanoseconds = Int64(bitPattern: bytes.u64(24))
        recordCount = bytes.u32(32)
        firstVersionCount = bytes.u32(36)
        laterVersionCount = bytes.u32(40)
        deleteCount = bytes.u32(44)
        segment = bytes.u64(48)
        offset = bytes.u64(56)
        clockNanoseconds = Int64(bitPattern: bytes.u64(64))
        let authorByteCount = Int(bytes.u16(72))
        guard bytes.u16(74) == 0, authorByteCount <= Limits.authorByteCountMax,
            payload.count == Self.fixedByteCount + authorByteCount
        else { return nil }
        author = Array(payload[Self.fixedByteCount...])
    }

    func write(to bytes: UnsafeMutableRawPointer) {
        bytes.set(sequence, 0)
        bytes.set(transaction.high, 8)
        bytes.set(transaction.low, 16)
        bytes.set(UInt64(bitPattern: wallNanoseconds), 24)
        bytes.set(recordCount, 32)
        bytes.set(firstVersionCount, 36)
        bytes.set(laterVersionCount, 40)
        bytes.set(deleteCount, 44)
        bytes.set(segment, 48)
        bytes.set(offset, 56)
        bytes.set(UInt64(bitPattern: clockNanoseconds), 64)
        bytes.set(UInt16(author.count), 72)
        bytes.set(UInt16(0), 74)
        for (index, byte) in author.enumerated() { bytes.set(byte, Self.fixedByteCount + index) }
    }
}
