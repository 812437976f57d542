import CLZ4
import FaultlineDisk

/// Turns the bytes of a file into a verified record.
enum RecordDecoder {
    /// The fault of a record.
    enum Fault: Error {
        case checksum, otherRecord, notARow, compression, newerFormat
        case needsCapacity(Int)

        var sentence: String {
            switch self {
            case .checksum: "does not verify"
            case .otherRecord: "belongs to another object"
            case .notARow: "is not a row"
            case .compression: "cannot be decompressed"
            case .newerFormat: "is of a newer format"
            case .needsCapacity: "does not fit into its buffer"
            }
        }
    }

    /// Verifies the record at `bytes` and finds its row.
    ///
    /// - Parameters:
    ///   - bytes: The record, from its header on.
    ///   - limit: Bytes that can be read from there.
    ///   - id: The object that it must belong to.
    ///   - table: The table that it must belong to.
    ///   - location: The location that it was read from, for the view.
    ///   - binding: `ManagedFile.recordBinding` of that location.
    ///   - scratch: Memory after the record for a decompressed row.
    /// - Returns: The view, and the bytes of scratch used.
    /// - Throws: The first check that failed; `.needsCapacity` if `scratch` is too small for the decompressed row.
    @inline(__always)
    static func decode(
        _ bytes: UnsafeRawPointer, limit: Int, id: RecordID, table: UInt16, location: Location, binding: UInt32,
        scratch: UnsafeMutableRawBufferPointer
    ) throws(Fault) -> (view: RecordView, scratchUsed: Int) {
        guard RecordHeader.verify(bytes, limit: limit, binding: binding) != nil else { throw .checksum }
        return try view(bytes, id: id, table: table, location: location, scratch: scratch)
    }

    /// Finds the row of a record that is known to verify, or was never written.
    @inline(__always)
    static func view(
        _ bytes: UnsafeRawPointer, id: RecordID, table: UInt16, location: Location,
        scratch: UnsafeMutableRawBufferPointer
    ) throws(Fault) -> (view: RecordView, scratchUsed: Int) {
        let word = bytes[RecordHeader.Fields.word]
        guard word & 0xFFFF_FFFF_FFFF == id, bytes[RecordHeader.Fields.table] == table else { throw .otherRecord }
        guard UInt8(truncatingIfNeeded: word >> 48) == RecordOperation.put.rawValue else { throw .notARow }
        let flags = RecordFlags(rawValue: UInt8(truncatingIfNeeded: word >> 56))
        guard RecordFlags.known.has(flags) else { throw .newerFormat }
        var start = RecordHeader.byteCount
        var count = Int(bytes[RecordHeader.Fields.storedByteCount])
        var changed: UInt64 = 0
        if flags.has(.changed) {
            guard count >= 8 else { throw .notARow }
            changed = bytes.u64(start)
            start += 8
            count -= 8
        }
        var row = UnsafeRawBufferPointer(start: bytes + start, count: count)
        var used = 0
        if flags.has(.compressed) {
            let rawCount = Int(bytes[RecordHeader.Fields.rawByteCount]) - (start - RecordHeader.byteCount)
            row = try decompress(row, to: rawCount, in: scratch)
            used = rawCount
        }
        return (
            RecordView(
                id: id, layout: bytes[RecordHeader.Fields.layout], flags: flags, changed: changed, row: row,
                location: location),
            used
        )
    }

    @inline(never)
    private static func decompress(
        _ stored: UnsafeRawBufferPointer, to rawCount: Int, in scratch: UnsafeMutableRawBufferPointer
    ) throws(Fault) -> UnsafeRawBufferPointer {
        guard rawCount >= 0, rawCount <= Limits.frameBodyByteCountMax else { throw .compression }
        guard rawCount <= scratch.count else { throw .needsCapacity(rawCount) }
        guard
            LZ4_decompress_safe(
                stored.baseAddress?.assumingMemoryBound(to: CChar.self),
                scratch.baseAddress?.assumingMemoryBound(to: CChar.self),
                Int32(stored.count), Int32(rawCount)) == Int32(rawCount)
        else { throw .compression }
        return UnsafeRawBufferPointer(rebasing: scratch[0..<rawCount])
    }
}
