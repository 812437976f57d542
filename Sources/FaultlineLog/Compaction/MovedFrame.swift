import FaultlineDisk

/// A frame of moved records while it is being filled: `docs/FileFormat.md` section 5.
///
/// Memory: one frame, or one record that is larger.
final class MovedFrame {
    /// The number of records after which a frame is written.
    private static let recordCountMax = 8_192

    /// A record in the frame.
    struct Record {
        let id: RecordID
        let table: UInt16
        let isPut: Bool
        /// The offset behind the list of origins.
        let place: Int
        let byteCount: Int
        let origin: MoveOrigin
    }

    private(set) var records: [Record] = []
    private let byteCountMax: Int
    private var bytes: ByteWriter
    private let budget: MemoryBudget
    private let reservation: MemoryReservation

    /// - Parameters:
    ///   - byteCountMax: Bytes of records after which a frame is written.
    ///   - budget: Counts its memory.
    init(byteCountMax: Int, budget: MemoryBudget) {
        self.byteCountMax = byteCountMax
        self.budget = budget
        bytes = ByteWriter(byteCapacity: byteCountMax)
        reservation = MemoryReservation(byteCountMax, for: .buffers, in: budget)
    }

    /// Bytes of the records.
    var byteCount: Int { bytes.byteCount }
    var isEmpty: Bool { records.isEmpty }

    /// Whether a record of `byteCount` bytes must wait for the next frame.
    func isFull(for byteCount: Int) -> Bool {
        !records.isEmpty
            && (bytes.byteCount + byteCount > byteCountMax || records.count >= Self.recordCountMax)
    }

    /// Adds a record without a change; its checksum is still that of its old location.
    func append(_ record: UnsafeRawPointer, _ header: RecordHeader, origin: MoveOrigin) {
        records.append(
            Record(
                id: header.id, table: header.table, isPut: header.operation == RecordOperation.put.rawValue,
                place: bytes.byteCount, byteCount: header.wholeByteCount, origin: origin))
        bytes.append(UnsafeRawBufferPointer(start: record, count: header.wholeByteCount))
    }

    /// Removes the records, and frees memory that only a large record needed.
    func removeAll() {
        records.removeAll(keepingCapacity: true)
        if bytes.byteCount > byteCountMax { bytes = ByteWriter(byteCapacity: byteCountMax) }
        bytes.removeAll()
    }

    /// Bytes before the first record: the frame header, and the list of origins.
    var headByteCount: Int {
        FrameHeader.byteCount + RecordHeader.byteCount + (records.count * MoveOrigin.byteCount).roundedUpTo8
    }

    /// Writes the frame to the end of a segment.
    ///
    /// Durability: synchronize the segment before a table names the copies.
    ///
    /// - Parameters:
    ///   - segment: The target.
    ///   - source: The file that the records were read from.
    ///   - newest: The newest published transaction.
    /// - Returns: The old and the new location of each version; deletes have none.
    /// - Throws: Disk errors.
    func write(
        to segment: ColdSegment, from source: ManagedFile, newest: UInt64
    ) throws(LogError) -> [Move] {
        let head = headByteCount
        var frame = ByteWriter(byteCapacity: head + bytes.byteCount)
        let reservation = MemoryReservation(head + bytes.byteCount, for: .buffers, in: budget)
        defer { withExtendedLifetime(reservation) {} }
        frame.appendZeros(head)
        frame.append(bytes.bytes)
        guard let start = frame.mutableBytes.baseAddress, let first = records.first else { return [] }
        var moves: [Move] = []
        var originals = first.origin.sequence...first.origin.sequence
        let list = start + FrameHeader.byteCount
        for (index, record) in records.enumerated() {
            record.origin.write(to: list + (RecordHeader.byteCount + index * MoveOrigin.byteCount))
            let target = segment.writtenEnd + UInt64(head + record.place)
            // The bytes under the checksum have not changed; the checksum is bound to the new location.
            let copy = start + (head + record.place)
            copy[RecordHeader.Fields.checksum] ^=
                source.recordBinding(at: record.origin.from.byteOffset) ^ segment.managed.recordBinding(at: target)
            originals =
                min(originals.lowerBound, record.origin.sequence)...max(originals.upperBound, record.origin.sequence)
            guard record.isPut else { continue }
            moves.append(
                Move(
                    id: record.id, table: record.table, from: record.origin.from,
                    to: Location(segment: segment.managed.number, byteOffset: target, byteCount: record.byteCount)))
        }
        let listByteCount = records.count * MoveOrigin.byteCount
        RecordHeader.write(
            to: list, storedByteCount: listByteCount, rawByteCount: listByteCount, table: 0, layout: 0, id: 0,
            operation: .moved, flags: [])
        RecordHeader.seal(
            list, RecordHeader.byteCount + listByteCount.roundedUpTo8,
            binding: segment.managed.recordBinding(at: segment.writtenEnd + UInt64(FrameHeader.byteCount)))
        var headersCRC = CRC32C.checksum(list, RecordHeader.byteCount)
        for record in records {
            headersCRC = CRC32C.checksum(start + (head + record.place), RecordHeader.byteCount, seed: headersCRC)
        }
        let header = FrameHeader(
            kind: .moved, bodyByteCount: frame.byteCount - FrameHeader.byteCount, headersCRC: headersCRC,
            recordCount: records.count + 1, sequence: newest, durable: segment.end,
            previousHead: segment.writtenHead)
        let headCRC = header.write(to: start, at: segment.writtenEnd, of: segment.managed.header)
        try segment.append(frame.bytes, head: headCRC, originals: originals)
        return moves
    }
}

/// A version that has moved to another location, byte for byte.
struct Move {
    let id: RecordID
    let table: UInt16
    let from: Location
    let to: Location
}
