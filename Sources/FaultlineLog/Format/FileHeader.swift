import FaultlineDisk

/// The first 64 bytes of every manifest, segment, checkpoint and run: `docs/FileFormat.md` section 4.
package struct FileHeader: Equatable, Sendable {
    package static let byteCount = 64
    static let magic: UInt64 = 0x0145_4C49_4654_4C46

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
        guard bytes.u64(0) == Self.magic else { throw .wrongMagic }
        guard CRC32C.checksum(bytes, 60) == bytes.u32(60) else { throw .wrongChecksum }
        guard bytes.u16(8) == FormatVersion.major else { throw .newerFormat }
        guard bytes.u16(12) == 64, let kind = FileKind(rawValue: bytes.u16(14)) else { throw .newerFormat }
        guard bytes.u32(48) == 0, bytes.isZero(56, to: 60) else { throw .newerFormat }
        self.kind = kind
        storeHigh = bytes.u64(16)
        storeLow = bytes.u64(24)
        fileNumber = bytes.u64(32)
        salt = bytes.u64(40)
        generation = bytes.u32(52)
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
        bytes.set(Self.magic, 0)
        bytes.set(FormatVersion.major, 8)
        bytes.set(FormatVersion.minor, 10)
        bytes.set(UInt16(Self.byteCount), 12)
        bytes.set(kind.rawValue, 14)
        bytes.set(storeHigh, 16)
        bytes.set(storeLow, 24)
        bytes.set(fileNumber, 32)
        bytes.set(salt, 40)
        bytes.set(generation, 52)
        bytes.set(CRC32C.checksum(bytes, 60), 60)
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
