import FaultlineDisk

/// The kind of a record.
package enum RecordOperation: UInt8, Sendable {
    case put = 1
    case delete = 2
    /// The first record of a frame of moved records: the origin of each.
    case moved = 3
    case transaction = 4
    case dropTable = 5
    case blob = 6
    case edit = 7
}

/// The flags of a record.
@usableFromInline
package struct RecordFlags: OptionSet, Hashable, Sendable {
    @usableFromInline package let rawValue: UInt8
    @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// No flags: as `[]`, which is a call through the protocol in another module, of hundreds of instructions.
    @inlinable @inline(__always)
    package static var none: RecordFlags { RecordFlags(rawValue: 0) }
    /// The payload begins with the mask of changed slots.
    package static let changed = RecordFlags(rawValue: 1 << 0)
    /// No indexed slot changed: replay need not look at the indexes.
    package static let noIndexChange = RecordFlags(rawValue: 1 << 1)
    /// The row is an LZ4 block.
    package static let compressed = RecordFlags(rawValue: 1 << 2)
    /// The last 4 bytes of the row are the size of the extension before them.
    package static let hasExtension = RecordFlags(rawValue: 1 << 3)
    /// Encrypted (not known to this version).
    package static let encrypted = RecordFlags(rawValue: 1 << 4)
    package static let known: RecordFlags = [.changed, .noIndexChange, .compressed, .hasExtension]

    /// Whether all flags of another set are in this one: as `contains`, which is a call through the protocol.
    @inlinable @inline(__always)
    package func has(_ flags: RecordFlags) -> Bool { rawValue & flags.rawValue == flags.rawValue }
}

/// The 24 bytes before a record's payload: `docs/FileFormat.md` section 6.
package struct RecordHeader: Equatable, Sendable {
    package static let byteCount = 24

    /// The table of section 6.
    enum Fields {
        static let checksum = Field.U32(0)
        static let storedByteCount = Field.U32(4)
        static let rawByteCount = Field.U32(8)
        static let table = Field.U16(12)
        static let layout = Field.U16(14)
        static let id = Field.U48(16)
        static let operation = Field.U8(22)
        static let flags = Field.U8(23)
        /// Identifier, operation and flags in one number.
        static let word = Field.U64(16)
    }

    package let checksum: UInt32
    package let storedByteCount: Int
    package let rawByteCount: Int
    package let table: UInt16
    package let layout: UInt16
    package let id: RecordID
    package let operation: UInt8
    package let flags: RecordFlags

    /// Header, payload and padding.
    package var wholeByteCount: Int { Self.byteCount + storedByteCount.roundedUpTo8 }

    /// Whether this version understands a record that verifies.
    package var isUnderstood: Bool {
        guard RecordFlags.known.has(flags) else { return false }
        switch RecordOperation(rawValue: operation) {
        case .put, .delete, .moved, .transaction, .dropTable, .blob, .edit: return true
        case nil: return false
        }
    }

    /// Reads the fields without verifying them.
    @inline(__always)
    package init(reading bytes: UnsafeRawPointer) {
        checksum = bytes[Fields.checksum]
        storedByteCount = Int(bytes[Fields.storedByteCount])
        rawByteCount = Int(bytes[Fields.rawByteCount])
        table = bytes[Fields.table]
        layout = bytes[Fields.layout]
        id = bytes[Fields.id]
        operation = bytes[Fields.operation]
        flags = RecordFlags(rawValue: bytes[Fields.flags])
    }

    /// Writes all but the checksum.
    @inline(__always)
    static func write(
        to bytes: UnsafeMutableRawPointer, storedByteCount: Int, rawByteCount: Int, table: UInt16, layout: UInt16,
        id: RecordID,
        operation: RecordOperation, flags: RecordFlags
    ) {
        bytes[Fields.storedByteCount] = UInt32(truncatingIfNeeded: storedByteCount)
        bytes[Fields.rawByteCount] = UInt32(truncatingIfNeeded: rawByteCount)
        bytes[Fields.table] = table
        bytes[Fields.layout] = layout
        bytes[Fields.word] = id | UInt64(operation.rawValue) << 48 | UInt64(flags.rawValue) << 56
    }

    /// Sets the checksum of a record of `whole` bytes; to be called last.
    ///
    /// `binding` is `ManagedFile.recordBinding` of the record's offset.
    @inline(__always)
    static func seal(_ bytes: UnsafeMutableRawPointer, _ whole: Int, binding: UInt32) {
        bytes[Fields.checksum] = CRC32C.checksum(bytes + 4, whole - 4) ^ binding
    }

    /// Checks the record that begins at `bytes` and may use `limit` bytes: size, checksum, padding.
    ///
    /// - Parameters:
    ///   - bytes: The record.
    ///   - limit: Bytes that can be read from there.
    ///   - binding: `ManagedFile.recordBinding` of the offset that it was read from.
    /// - Returns: Bytes of header, payload and padding, or nil if the record does not verify.
    @inline(__always)
    package static func verify(_ bytes: UnsafeRawPointer, limit: Int, binding: UInt32) -> Int? {
        guard limit >= byteCount else { return nil }
        let stored = Int(bytes[Fields.storedByteCount])
        guard stored <= Limits.frameBodyByteCountMax else { return nil }
        let whole = byteCount + stored.roundedUpTo8
        guard whole <= limit else { return nil }
        guard CRC32C.checksum(bytes + 4, whole - 4) ^ binding == bytes[Fields.checksum] else { return nil }
        // The padding is the upper bytes of the last word.
        guard stored & 7 == 0 || bytes.u64(whole - 8) >> UInt64(8 * (stored & 7)) == 0 else { return nil }
        return whole
    }
}
