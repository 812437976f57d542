import FaultlineDisk

/// A state of the store that can be restored: `docs/FileFormat.md` section 8, edit 16.
///
/// It is the content of the segments when it was captured, so it needs only them, the ends of those that were being
/// written then, and the next file number.
package struct KeptState: Equatable, Sendable {
    static let byteCount = 112

    /// The table of section 8, edit 16.
    enum Fields {
        static let sequence = Field.U64(0)
        static let wallNanoseconds = Field.I64(8)
        static let sinceNanoseconds = Field.I64(16)
        static let untilNanoseconds = Field.I64(24)
        static let nextFileNumber = Field.U64(32)
        static let log = Field.Bytes(40, SegmentPlace.byteCount)
        static let blobs = Field.Bytes(64, SegmentPlace.byteCount)
        static let cold = Field.Bytes(88, SegmentPlace.byteCount)
    }

    /// Its newest transaction.
    package let sequence: UInt64
    /// The wall time of that transaction.
    let wallNanoseconds: Int64
    /// The time of the capture, by the clock: nanoseconds since 1970.
    package let sinceNanoseconds: Int64
    /// The time when it expires, by the same clock.
    package let untilNanoseconds: Int64
    /// Segments with smaller numbers belong to it, and stay as they are.
    let nextFileNumber: UInt64
    /// The end of the log.
    let log: SegmentPlace
    /// The end of the unsealed blob segment; its number is 0 if there is none.
    let blobs: SegmentPlace
    /// The end of the unsealed cold segment; its number is 0 if there is none.
    let cold: SegmentPlace

    /// An offset in a segment behind a whole frame.
    struct SegmentPlace: Equatable, Sendable {
        static let byteCount = 24

        enum Fields {
            static let segment = Field.U64(0)
            static let offset = Field.U64(8)
            static let head = Field.U32(16)
            static let reserved = Field.U32(20)
        }

        var segment: UInt64
        var offset: UInt64
        /// headCRC of the frame before it; 0 if it is not known, or there is none.
        var head: UInt32

        static let none = SegmentPlace(segment: 0, offset: 0, head: 0)

        init(segment: UInt64, offset: UInt64, head: UInt32) {
            self.segment = segment
            self.offset = offset
            self.head = head
        }

        init(reading bytes: UnsafeRawPointer) throws(FormatFault) {
            guard bytes[Fields.reserved] == 0 else { throw .newerFormat }
            self.init(segment: bytes[Fields.segment], offset: bytes[Fields.offset], head: bytes[Fields.head])
            guard offset <= Limits.countMax, segment <= Limits.fileNumberMax else { throw .outOfRange }
        }

        func write(to bytes: UnsafeMutableRawPointer) {
            bytes[Fields.segment] = segment
            bytes[Fields.offset] = offset
            bytes[Fields.head] = head
        }
    }

    /// Whether a file is one of the state's segments.
    func owns(_ file: AddedFile) -> Bool {
        file.kind.isSegment && file.number < nextFileNumber
            && (file.kind != .hotSegment || file.number <= log.segment)
    }

    /// The end of one of the state's segments that was being written; nil if the segment was sealed.
    func end(of segment: UInt64) -> SegmentPlace? {
        [log, blobs, cold].first { $0.segment == segment }
    }
}

extension KeptState {
    init(reading bytes: UnsafeRawPointer) throws(FormatFault) {
        self.init(
            sequence: bytes[Fields.sequence], wallNanoseconds: bytes[Fields.wallNanoseconds],
            sinceNanoseconds: bytes[Fields.sinceNanoseconds], untilNanoseconds: bytes[Fields.untilNanoseconds],
            nextFileNumber: bytes[Fields.nextFileNumber], log: try SegmentPlace(reading: bytes[Fields.log]),
            blobs: try SegmentPlace(reading: bytes[Fields.blobs]),
            cold: try SegmentPlace(reading: bytes[Fields.cold]))
        guard sequence <= Limits.countMax, nextFileNumber <= Limits.fileNumberMax else { throw .outOfRange }
    }

    func write(to writer: inout ByteWriter) {
        writer.append(structureOf: Self.byteCount) { bytes in
            bytes[Fields.sequence] = sequence
            bytes[Fields.wallNanoseconds] = wallNanoseconds
            bytes[Fields.sinceNanoseconds] = sinceNanoseconds
            bytes[Fields.untilNanoseconds] = untilNanoseconds
            bytes[Fields.nextFileNumber] = nextFileNumber
            log.write(to: bytes[Fields.log])
            blobs.write(to: bytes[Fields.blobs])
            cold.write(to: bytes[Fields.cold])
        }
    }
}
