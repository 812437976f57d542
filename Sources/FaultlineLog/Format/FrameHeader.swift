import FaultlineDisk

/// The content of a frame.
package enum FrameKind: UInt8, Sendable {
    case commit = 1
    case moved = 2
    case blob = 3
    case edit = 4
    case mark = 5
    case block = 6
}

/// The 48 bytes before the records of a frame: `docs/FileFormat.md` section 5.
package struct FrameHeader: Equatable, Sendable {
    package static let byteCount = 48

    /// The table of section 5.
    package enum Fields {
        package static let checksum = Field.U32(0)
        package static let bodyByteCount = Field.U32(4)
        package static let headersCRC = Field.U32(8)
        package static let recordCount = Field.U16(12)
        package static let kind = Field.U8(14)
        package static let flags = Field.U8(15)
        package static let sequence = Field.U64(16)
        package static let durable = Field.U64(24)
        package static let previousHead = Field.U32(32)
        package static let part = Field.U32(36)
        package static let spill = Field.U64(40)
    }

    private static let reservedFlags: UInt8 = 0b1_1111
    /// Recovery copied the frame here from a segment that it sealed before it.
    static let flagRescued: UInt8 = 1 << 5
    static let flagContinued: UInt8 = 1 << 6
    /// A reader that does not know the kind skips the frame; `headersCRC` then covers the whole body.
    static let flagSkippable: UInt8 = 1 << 7

    package var bodyByteCount: Int
    package var headersCRC: UInt32
    package var recordCount: Int
    /// Nil if a newer version defined the kind.
    package var kind: FrameKind?
    package var flags: UInt8
    package var sequence: UInt64
    package var durable: UInt64
    package var previousHead: UInt32
    package var part: UInt32
    package var spill: UInt64

    package var isContinued: Bool { flags & Self.flagContinued != 0 }
    package var isRescued: Bool { flags & Self.flagRescued != 0 }
    var isSkippable: Bool { flags & Self.flagSkippable != 0 }
    /// Whether this version understands the frame, or may ignore it.
    package var isUnderstood: Bool { flags & Self.reservedFlags == 0 && (kind != nil || isSkippable) }

    init(
        kind: FrameKind, bodyByteCount: Int, headersCRC: UInt32, recordCount: Int, flags: UInt8 = 0,
        sequence: UInt64 = 0,
        durable: UInt64 = 0, previousHead: UInt32 = 0, part: UInt32 = 0, spill: UInt64 = 0
    ) {
        self.bodyByteCount = bodyByteCount
        self.headersCRC = headersCRC
        self.recordCount = recordCount
        self.kind = kind
        self.flags = flags
        self.sequence = sequence
        self.durable = durable
        self.previousHead = previousHead
        self.part = part
        self.spill = spill
    }

    /// Reads the header of a frame at `offset` of `file`, or nil if there is none.
    ///
    /// Only the checksum decides, for any kind: a frame of a newer version is no torn tail.
    package init?(reading bytes: UnsafeRawPointer, at offset: UInt64, of file: FileHeader) {
        guard CRC32C.checksum(bytes + 4, 44, seed: file.seed(at: offset)) == bytes[Fields.checksum] else { return nil }
        let bodyByteCount = Int(bytes[Fields.bodyByteCount])
        guard bytes[Fields.kind] != 0, bodyByteCount <= Limits.frameBodyByteCountMax, bodyByteCount & 7 == 0 else {
            return nil
        }
        // No writer records more as durable than it has written: this excludes bytes that look like a head by chance.
        guard bytes[Fields.durable] <= offset else { return nil }
        self.bodyByteCount = bodyByteCount
        headersCRC = bytes[Fields.headersCRC]
        recordCount = Int(bytes[Fields.recordCount])
        kind = FrameKind(rawValue: bytes[Fields.kind])
        flags = bytes[Fields.flags]
        sequence = bytes[Fields.sequence]
        durable = bytes[Fields.durable]
        previousHead = bytes[Fields.previousHead]
        part = bytes[Fields.part]
        spill = bytes[Fields.spill]
    }

    /// Writes the header of a frame at `offset` of `file`.
    ///
    /// - Returns: headCRC, for the next frame's chain.
    @discardableResult
    func write(to bytes: UnsafeMutableRawPointer, at offset: UInt64, of file: FileHeader) -> UInt32 {
        bytes[Fields.bodyByteCount] = UInt32(bodyByteCount)
        bytes[Fields.headersCRC] = headersCRC
        bytes[Fields.recordCount] = UInt16(recordCount)
        bytes[Fields.kind] = kind?.rawValue ?? 0
        bytes[Fields.flags] = flags
        bytes[Fields.sequence] = sequence
        bytes[Fields.durable] = durable
        bytes[Fields.previousHead] = previousHead
        bytes[Fields.part] = part
        bytes[Fields.spill] = spill
        return Self.seal(bytes, at: offset, of: file)
    }

    /// Sets watermark and chain of a header whose other fields are written, and its checksum.
    ///
    /// - Returns: headCRC, for the next frame's chain.
    @inline(__always)
    static func stamp(
        _ bytes: UnsafeMutableRawPointer, durable: UInt64, previousHead: UInt32, at offset: UInt64, of file: FileHeader
    ) -> UInt32 {
        bytes[Fields.durable] = durable
        bytes[Fields.previousHead] = previousHead
        return seal(bytes, at: offset, of: file)
    }

    @inline(__always)
    private static func seal(_ bytes: UnsafeMutableRawPointer, at offset: UInt64, of file: FileHeader) -> UInt32 {
        let head = CRC32C.checksum(bytes + 4, 44, seed: file.seed(at: offset))
        bytes[Fields.checksum] = head
        return head
    }
}
