import FaultlineDisk

/// The header of a blob record's payload, which the record's checksum covers: `docs/FileFormat.md` section 10.1.
package struct BlobHeader: Equatable {
    package static let byteCount = 40
    static let flagCompressed: UInt32 = 1

    /// The table of section 10.1.
    enum Fields {
        static let rawByteCount = Field.U64(0)
        static let storedByteCount = Field.U64(8)
        static let chunkByteCount = Field.U32(16)
        static let chunkCount = Field.U32(20)
        static let table = Field.U16(24)
        static let slot = Field.U16(26)
        static let flags = Field.U32(28)
        static let id = Field.U64(32)
    }

    var rawByteCount: UInt64
    /// Stored bytes of all chunks.
    var storedByteCount: UInt64
    var chunkCount: UInt32
    package var owner: BlobOwner
    var flags: UInt32

    /// Bytes of header, chunks and chunk table.
    var payloadByteCount: UInt64 {
        UInt64(Self.byteCount) + storedByteCount + UInt64(ChunkGroup.byteCount(ofChunks: Int(chunkCount)))
    }

    init(rawByteCount: UInt64, storedByteCount: UInt64, chunkCount: UInt32, owner: BlobOwner, flags: UInt32) {
        self.rawByteCount = rawByteCount
        self.storedByteCount = storedByteCount
        self.chunkCount = chunkCount
        self.owner = owner
        self.flags = flags
    }

    init?(reading bytes: UnsafeRawPointer) {
        rawByteCount = bytes[Fields.rawByteCount]
        storedByteCount = bytes[Fields.storedByteCount]
        chunkCount = bytes[Fields.chunkCount]
        owner = BlobOwner(table: TableID(rawValue: bytes[Fields.table]), slot: bytes[Fields.slot], id: bytes[Fields.id])
        flags = bytes[Fields.flags]
        guard bytes[Fields.chunkByteCount] == UInt32(Limits.chunkByteCount), rawByteCount <= Limits.blobByteCountMax,
            storedByteCount <= rawByteCount,
            UInt64(chunkCount) == (rawByteCount + UInt64(Limits.chunkByteCount) - 1) / UInt64(Limits.chunkByteCount)
        else { return nil }
    }

    /// Reads the blob header behind the record header, whose checksum covers both; nil if they are not that blob's, or
    /// do not verify at their offset.
    package init?(verifying record: UnsafeRawPointer, id: RecordID, binding: UInt32) {
        guard
            CRC32C.checksum(record + 4, RecordHeader.byteCount + Self.byteCount - 4) ^ binding
                == record[RecordHeader.Fields.checksum],
            record[RecordHeader.Fields.id] == id
        else { return nil }
        self.init(reading: record + RecordHeader.byteCount)
    }

    func write(to bytes: UnsafeMutableRawPointer) {
        bytes[Fields.rawByteCount] = rawByteCount
        bytes[Fields.storedByteCount] = storedByteCount
        bytes[Fields.chunkByteCount] = UInt32(Limits.chunkByteCount)
        bytes[Fields.chunkCount] = chunkCount
        bytes[Fields.table] = owner.table.rawValue
        bytes[Fields.slot] = owner.slot
        bytes[Fields.flags] = flags
        bytes[Fields.id] = owner.id
    }
}

/// The object and the attribute that a blob was written for: a hint for salvage.
package struct BlobOwner: Hashable, Sendable {
    package let table: TableID
    package let slot: UInt16
    package let id: RecordID
    package init(table: TableID, slot: UInt16, id: RecordID) {
        self.table = table
        self.slot = slot
        self.id = id
    }
}

/// The placement of a blob: the row of table 2, `docs/FileFormat.md` section 10.3.
package struct BlobPlacement: Equatable, Sendable {
    static let byteCount = 40

    /// The table of section 10.3.
    enum Fields {
        static let segment = Field.U64(0)
        static let offset = Field.U64(8)
        static let rawByteCount = Field.U64(16)
        static let storedByteCount = Field.U64(24)
        static let recordCRC = Field.U32(32)
        static let flags = Field.U32(36)
    }

    package let segment: UInt64
    /// The header of the blob record, in bytes from the start of the file.
    package let offset: UInt64
    package let rawByteCount: UInt64
    /// Bytes of header, chunks and chunk table.
    package let storedByteCount: UInt64
    let recordCRC: UInt32
    let flags: UInt32

    init(
        segment: UInt64, offset: UInt64, rawByteCount: UInt64, storedByteCount: UInt64, recordCRC: UInt32, flags: UInt32
    ) {
        self.segment = segment
        self.offset = offset
        self.rawByteCount = rawByteCount
        self.storedByteCount = storedByteCount
        self.recordCRC = recordCRC
        self.flags = flags
    }

    package init?(reading row: UnsafeRawBufferPointer) {
        guard row.count == Self.byteCount, let bytes = row.baseAddress else { return nil }
        segment = bytes[Fields.segment]
        offset = bytes[Fields.offset]
        rawByteCount = bytes[Fields.rawByteCount]
        storedByteCount = bytes[Fields.storedByteCount]
        recordCRC = bytes[Fields.recordCRC]
        flags = bytes[Fields.flags]
    }

    func write(to bytes: UnsafeMutableRawPointer) {
        bytes[Fields.segment] = segment
        bytes[Fields.offset] = offset
        bytes[Fields.rawByteCount] = rawByteCount
        bytes[Fields.storedByteCount] = storedByteCount
        bytes[Fields.recordCRC] = recordCRC
        bytes[Fields.flags] = flags
    }
}
