/// The record that closes a transaction: `docs/FileFormat.md` section 6.1.
package struct TransactionRecord: Sendable {
    package static let fixedByteCount = 76

    /// The table of section 6.1; the name of the author follows.
    enum Fields {
        static let sequence = Field.U64(0)
        static let transactionHigh = Field.U64(8)
        static let transactionLow = Field.U64(16)
        static let wallNanoseconds = Field.I64(24)
        static let recordCount = Field.U32(32)
        static let firstVersionCount = Field.U32(36)
        static let laterVersionCount = Field.U32(40)
        static let deleteCount = Field.U32(44)
        static let segment = Field.U64(48)
        static let offset = Field.U64(56)
        static let clockNanoseconds = Field.I64(64)
        static let authorByteCount = Field.U16(72)
        static let reserved = Field.U16(74)
    }

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
        sequence = bytes[Fields.sequence]
        transaction = TransactionID(high: bytes[Fields.transactionHigh], low: bytes[Fields.transactionLow])
        wallNanoseconds = bytes[Fields.wallNanoseconds]
        recordCount = bytes[Fields.recordCount]
        firstVersionCount = bytes[Fields.firstVersionCount]
        laterVersionCount = bytes[Fields.laterVersionCount]
        deleteCount = bytes[Fields.deleteCount]
        segment = bytes[Fields.segment]
        offset = bytes[Fields.offset]
        clockNanoseconds = bytes[Fields.clockNanoseconds]
        let authorByteCount = Int(bytes[Fields.authorByteCount])
        guard bytes[Fields.reserved] == 0, authorByteCount <= Limits.authorByteCountMax,
            payload.count == Self.fixedByteCount + authorByteCount
        else { return nil }
        author = Array(payload[Self.fixedByteCount...])
    }

    func write(to bytes: UnsafeMutableRawPointer) {
        bytes[Fields.sequence] = sequence
        bytes[Fields.transactionHigh] = transaction.high
        bytes[Fields.transactionLow] = transaction.low
        bytes[Fields.wallNanoseconds] = wallNanoseconds
        bytes[Fields.recordCount] = recordCount
        bytes[Fields.firstVersionCount] = firstVersionCount
        bytes[Fields.laterVersionCount] = laterVersionCount
        bytes[Fields.deleteCount] = deleteCount
        bytes[Fields.segment] = segment
        bytes[Fields.offset] = offset
        bytes[Fields.clockNanoseconds] = clockNanoseconds
        bytes[Fields.authorByteCount] = UInt16(author.count)
        bytes[Fields.reserved] = UInt16(0)
        for (index, byte) in author.enumerated() { bytes.set(byte, Self.fixedByteCount + index) }
    }
}
