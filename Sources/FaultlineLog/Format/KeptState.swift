import FaultlineDisk

/// A state of the store that can be restored: `docs/FileFormat.md` section 8, edit 16.
///
/// It is the content of the segments when it was captured, so it needs only them, the ends of those that were being
/// written then, and the next file number.
package struct KeptState: Equatable, Sendable {
    static let byteCount = 112

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
            guard bytes.u32(20) == 0 else { throw .newerFormat }
            self.init(segment: bytes.u64(0), offset: bytes.u64(8), head: bytes.u32(16))
            guard offset <= Limits.countMax, segment <= Limits.fileNumberMax else { throw .outOfRange }
        }

        func write(to writer: inout ByteWriter) {
            writer.append(segment)
            writer.append(offset)
            writer.append(head)
            writer.append(UInt32(0))
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
            sequence: bytes.u64(0), wallNanoseconds: Int64(bitPattern: bytes.u64(8)),
            sinceNanoseconds: Int64(bitPattern: bytes.u64(16)), untilNanoseconds: Int64(bitPattern: bytes.u64(24)),
            nextFileNumber: bytes.u64(32), log: try SegmentPlace(reading: bytes + 40),
            blobs: try SegmentPlace(reading: bytes + 40 + SegmentPlace.byteCount),
            cold: try SegmentPlace(reading: bytes + 40 + 2 * SegmentPlace.byteCount))
        guard sequence <= Limits.countMax, nextFileNumber <= Limits.fileNumberMax else { throw .outOfRange }
    }

    func write(to writer: inout ByteWriter) {
        writer.append(sequence)
        writer.append(wallNanoseconds)
        writer.append(sinceNanoseconds)
        writer.append(untilNanoseconds)
        writer.append(nextFileNumber)
        log.write(to: &writer)
        blobs.write(to: &writer)
        cold.write(to: &writer)
    }
}
