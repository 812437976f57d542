import FaultlineDisk

/// The header of a blob record's payload, which the record's checksum covers: `docs/FileFormat.md` section 10.1.
package struct BlobHeader: Equatable {
    package static let byteCount = 40
    static let flagCompressed: UInt32 = 1

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
        rawByteCount = bytes.u64(0)
        storedByteCount = bytes.u64(8)
        chunkCount = bytes.u32(20)
        owner = BlobOwner(table: TableID(rawValue: bytes.u16(24)), slot: bytes.u16(26), id: bytes.u64(32))
        flags = bytes.u32(28)
        guard bytes.u32(16) == UInt32(Limits.chunkByteCount), rawByteCount <= Limits.blobByteCountMax,
            storedByteCount <= rawByteCount,
            UInt64(chunkCount) == (rawByteCount + UInt64(Limits.chunkByteCount) - 1) / UInt64(Limits.chunkByteCount)
        else { return nil }
    }

    /// Reads the blob header behind the record header, whose checksum covers both; nil if they are not that blob's, or
    /// do not verify at their offset.
    package init?(verifying record: UnsafeRawPointer, id: RecordID, binding: UInt32) {
        guard CRC32C.checksum(record + 4, RecordHeader.byteCount + Self.byteCount - 4) ^ binding == record.u32(0),
            record.u48(16) == id
        else { return nil }
        self.init(reading: record + RecordHeader.byteCount)
    }

    func write(to bytes: UnsafeMutableRawPointer) {
        bytes.set(rawByteCount, 0)
        bytes.set(storedByteCount, 8)
        bytes.set(UInt32(Limits.chunkByteCount), 16)
        bytes.set(chunkCount, 20)
        bytes.set(owner.table.rawValue, 24)
        bytes.set(owner.slot, 26)
        bytes.set(flags, 28)
        bytes.set(owner.id, 32)
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
        segment = bytes.u64(0)
        offset = bytes.u64(8)
        rawByteCount = bytes.u64(16)
        storedByteCount = bytes.u64(24)
        recordCRC = bytes.u32(32)
        flags = bytes.u32(36)
    }

    func write(to bytes: UnsafeMutableRawPointer) {
        bytes.set(segment, 0)
        bytes.set(offset, 8)
        bytes.set(rawByteCount, 16)
        bytes.set(storedByteCount, 24)
        bytes.set(recordCRC, 32)
        bytes.set(flags, 36)
    }
}
