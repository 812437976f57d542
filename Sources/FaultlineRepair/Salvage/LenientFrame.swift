import FaultlineDisk
import FaultlineLog

/// A frame whose header verifies, with a body that may be damaged.
///
/// The memory belongs to its scanner and is valid until the scanner moves on.
struct LenientFrame {
    let managed: ManagedFile
    let offset: UInt64
    let header: FrameHeader
    /// The records, as far as the file has them.
    let body: UnsafeRawBufferPointer
    /// Whether the records' headers are those that the frame was written with.
    let areHeadersProven: Bool

    init(managed: ManagedFile, offset: UInt64, header: FrameHeader, body: UnsafeRawBufferPointer) {
        self.managed = managed
        self.offset = offset
        self.header = header
        self.body = body
        areHeadersProven = Self.areProven(body, header)
    }

    /// The end of the frame, by its header.
    var end: UInt64 { offset + UInt64(FrameHeader.byteCount + header.bodyByteCount) }

    /// One step of a walk over the body.
    enum Step {
        /// A record at an offset of the body; if it is not intact, its header still is.
        case record(at: Int, RecordHeader, isIntact: Bool)
        /// Bytes of the body that belong to no record.
        case lost(Range<Int>)
    }

    /// Calls `body` with each record and each gap between records.
    ///
    /// If the headers are those that the frame was written with, each record is known, even with a damaged payload. If
    /// not, the walk continues at the next record that verifies, tried at every multiple of 8.
    func forEachStep<Failure: Error>(_ take: (Step) throws(Failure) -> Void) throws(Failure) {
        guard let start = body.baseAddress else { return }
        let first = offset + UInt64(FrameHeader.byteCount)
        var place = 0
        var lostFrom = 0
        while place + RecordHeader.byteCount <= body.count {
            let limit = body.count - place
            let binding = managed.recordBinding(at: first + UInt64(place))
            let header = RecordHeader(reading: start + place)
            if areHeadersProven {
                let whole = header.wholeByteCount
                let isIntact = RecordHeader.verify(start + place, limit: limit, binding: binding) != nil
                try take(.record(at: place, header, isIntact: isIntact))
                place += whole
                lostFrom = place
            } else if header.isPlausible(limit: limit),
                let whole = RecordHeader.verify(start + place, limit: limit, binding: binding)
            {
                if lostFrom < place { try take(.lost(lostFrom..<place)) }
                try take(.record(at: place, header, isIntact: true))
                place += whole
                lostFrom = place
            } else {
                place += 8
            }
        }
        if lostFrom < header.bodyByteCount { try take(.lost(lostFrom..<header.bodyByteCount)) }
    }

    private static func areProven(_ body: UnsafeRawBufferPointer, _ header: FrameHeader) -> Bool {
        guard body.count == header.bodyByteCount else { return false }
        guard let start = body.baseAddress else { return header.recordCount == 0 }
        var place = 0
        var checksum: UInt32 = 0
        for _ in 0..<header.recordCount {
            guard place + RecordHeader.byteCount <= body.count else { return false }
            checksum = CRC32C.checksum(start + place, RecordHeader.byteCount, seed: checksum)
            let whole = RecordHeader(reading: start + place).wholeByteCount
            guard whole <= body.count - place else { return false }
            place += whole
        }
        return place == body.count && checksum == header.headersCRC
    }

    /// The transaction record that ends the frame, if it verifies.
    var closingRecord: TransactionRecord? {
        guard let start = body.baseAddress else { return nil }
        var last: Int?
        if areHeadersProven {
            var place = 0
            while place < body.count {
                last = place
                place += RecordHeader(reading: start + place).wholeByteCount
            }
        } else {
            forEachStep { step in
                if case .record(let place, _, _) = step { last = place }
            }
        }
        guard let last else { return nil }
        let binding = managed.recordBinding(at: offset + UInt64(FrameHeader.byteCount + last))
        let header = RecordHeader(reading: start + last)
        guard header.operation == RecordOperation.transaction.rawValue, header.table == 0,
            RecordHeader.verify(start + last, limit: body.count - last, binding: binding) != nil
        else { return nil }
        return TransactionRecord(
            reading: UnsafeRawBufferPointer(start: start + last + RecordHeader.byteCount, count: header.storedByteCount)
        )
    }
}

extension RecordHeader {
    /// Whether arbitrary bytes look like a record of a hot segment: checked before the checksum, which reads all of it.
    func isPlausible(limit: Int) -> Bool {
        guard storedByteCount <= limit - Self.byteCount, flags.isSubset(of: .known) else { return false }
        let isOfAnObject = table > 0 && id > 0 && id <= Limits.recordIDMax
        switch RecordOperation(rawValue: operation) {
        case .put: return isOfAnObject && (rawByteCount == storedByteCount || flags.contains(.compressed))
        case .delete: return isOfAnObject && storedByteCount == Location.byteCount
        case .dropTable: return table > 0 && id == 0 && storedByteCount == 0
        case .transaction:
            return table == 0 && id == 0 && storedByteCount >= TransactionRecord.fixedByteCount
                && storedByteCount <= TransactionRecord.fixedByteCount + Limits.authorByteCountMax
        case .moved, .blob, .edit, nil: return false
        }
    }
}
