import FaultlineDisk

/// The first 64 bytes of every manifest, segment, checkpoint and run: `docs/FileFormat.md` section 4.
package struct FileHeader: Equatable, Sendable {
    package static let byteCount = 64
    static let magic: UInt64 = 0x0145_4C49_4654_4C46

    /// The table of section 4.
    enum Fields {
        static let magic = Field.U64(0)
        static let major = Field.U16(8)
        static let minor = Field.U16(10)
        static let headerByteCount = Field.U16(12)
        static let kind = Field.U16(14)
        static let storeHigh = Field.U64(16)
        static let storeLow = Field.U64(24)
        static let fileNumber = Field.U64(32)
        static let salt = Field.U64(40)
        static let keyNumber = Field.U32(48)
        static let generation = Field.U32(52)
        static let reserved = Field.Bytes(56, 4)
        static let checksum = Field.U32(60)
    }

    package let kind: FileKind
    package let storeHigh: UInt64
    package let storeLow: UInt64
    package let fileNumber: UInt64
    package let salt: UInt64
    package let generation: UInt32

    /// The store's identifier.
    package var storeID: (UInt64, UInt64) { (storeHigh, storeLow) }

    package init(
        kind: FileKind, storeID: (UInt64, UInt64), fileNumber: UInt64, salt: UInt64, generation: UInt32 = 0
    ) {
        self.kind = kind
        storeHigh = storeID.0
        storeLow = storeID.1
        self.fileNumber = fileNumber
        self.salt = salt
        self.generation = generation
    }

    /// Reads a header, or throws the reason why the bytes are none.
    ///
    /// - Parameter bytes: At least 64 bytes.
    /// - Throws: The first check that failed: magic, checksum, and `.newerFormat` for an unknown version, size or kind
    ///   and for reserved bytes that are not zero.
    package init(reading bytes: UnsafeRawPointer) throws(FormatFault) {
        guard bytes[Fields.magic] == Self.magic else { throw .wrongMagic }
        guard CRC32C.checksum(bytes, Fields.checksum.offset) == bytes[Fields.checksum] else { throw .wrongChecksum }
        guard bytes[Fields.major] == FormatVersion.major else { throw .newerFormat }
        guard bytes[Fields.headerByteCount] == UInt16(Self.byteCount), let kind = FileKind(rawValue: bytes[Fields.kind])
        else { throw .newerFormat }
        guard bytes[Fields.keyNumber] == 0, bytes.isZero(Fields.reserved) else { throw .newerFormat }
        self.kind = kind
        storeHigh = bytes[Fields.storeHigh]
        storeLow = bytes[Fields.storeLow]
        fileNumber = bytes[Fields.fileNumber]
        salt = bytes[Fields.salt]
        generation = bytes[Fields.generation]
    }

    /// Reads a header, or nil if it is none.
    package init?(reading bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.byteCount, let start = bytes.baseAddress else { return nil }
        do {
            try self.init(reading: start)
        } catch {
            return nil
        }
    }

    /// Writes the 64 bytes.
    package func write(to bytes: UnsafeMutableRawPointer) {
        bytes.zero(0, to: Self.byteCount)
        bytes[Fields.magic] = Self.magic
        bytes[Fields.major] = FormatVersion.major
        bytes[Fields.minor] = FormatVersion.minor
        bytes[Fields.headerByteCount] = UInt16(Self.byteCount)
        bytes[Fields.kind] = kind.rawValue
        bytes[Fields.storeHigh] = storeHigh
        bytes[Fields.storeLow] = storeLow
        bytes[Fields.fileNumber] = fileNumber
        bytes[Fields.salt] = salt
        bytes[Fields.generation] = generation
        bytes[Fields.checksum] = CRC32C.checksum(bytes, Fields.checksum.offset)
    }

    /// The seed for the checksum of a frame, block or page at `offset` of this file, so that it is valid there only.
    @inline(__always)
    func seed(at offset: UInt64) -> UInt32 {
        var fields = (salt.littleEndian, fileNumber.littleEndian, offset.littleEndian)
        return withUnsafeBytes(of: &fields) { CRC32C.checksum($0) }
    }

    /// The file's share in the checksums of its records: section 6.
    var recordBinding: UInt32 {
        var fields = (salt.littleEndian, fileNumber.littleEndian)
        return withUnsafeBytes(of: &fields) { CRC32C.checksum($0) }
    }
}

/// The reason why bytes are not valid.
package enum FormatFault: Error, Sendable {
    case wrongMagic, wrongChecksum, newerFormat, unknownKind, outOfRange
    /// Incompatible features of these bits.
    case unknownFeatures(UInt64)

    /// The fault as the end of a sentence.
    var sentence: String {
        switch self {
        case .wrongMagic: "does not begin with the expected magic number"
        case .wrongChecksum: "has a wrong checksum"
        case .newerFormat: "is of a newer format"
        case .unknownKind: "is of an unknown kind"
        case .unknownFeatures(let bits): "uses \(Feature.names(bits, Feature.incompatible))"
        case .outOfRange: "has a number that is out of range"
        }
    }
}
