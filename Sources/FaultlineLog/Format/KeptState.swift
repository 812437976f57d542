import FaultlineDisk

/// A state of the store that can be returned to: `docs/FileFormat.md` section 8, edit 16.
///
/// It is what the segments held when it was captured, so it needs nothing but them: where those end for it that were
/// being written then, and which number the next file had.
package struct KeptState: Equatable, Sendable {
    static let byteCount = 112

    /// Its newest transaction.
    package let sequence: UInt64
    /// The wall time of that transaction.
    let wallNanoseconds: Int64
    /// When it was captured, as the clock was read: nanoseconds since 1970.
    package let sinceNanoseconds: Int64
    /// When it ends, by the same clock.
    package let untilNanoseconds: Int64
    /// Segments of smaller numbers are its own, and stay as they are.
    let nextFileNumber: UInt64
    /// Where the log ends.
    let log: SegmentPlace
    /// Where the blob segment ends that is not sealed; of number 0 where there is none.
    let blobs: SegmentPlace
    /// Where the cold segment ends that is not sealed; of number 0 where there is none.
    let cold: SegmentPlace

    /// A place in a segment behind a whole frame.
    struct SegmentPlace: Equatable, Sendable {
        static let byteCount = 24

        var segment: UInt64
        var offset: UInt64
        /// headCRC of the frame before it; 0 where it is not known, or there is none.
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

    /// Whether a file is one of its segments.
    func owns(_ file: AddedFile) -> Bool {
        file.kind.isSegment && file.number < nextFileNumber
            && (file.kind != .hotSegment || file.number <= log.segment)
    }

    /// Where a segment of its own ends for it that was being written; nil where the segment was sealed.
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
