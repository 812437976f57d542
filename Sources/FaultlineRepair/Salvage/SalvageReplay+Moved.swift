import FaultlineDisk
import FaultlineLog

/// Applies records that compaction moved: they are of transactions that have ended, and their list has the numbers.
extension SalvageReplay {
    /// Applies a frame of a cold segment.
    ///
    /// Its list has the size of each record, so a damaged record does not affect the others.
    mutating func take(moved frame: LenientFrame) throws(LogError) {
        guard frame.header.kind == .moved, frame.header.isUnderstood, let list = frame.moveList,
            let start = frame.body.baseAddress
        else {
            return lose(
                frame.managed, frame.offset..<frame.end, "The frame does not say when its records were written.")
        }
        var place = list.wholeByteCount
        var tally = Tally()
        for index in 0..<(frame.header.recordCount - 1) {
            let origin = MoveOrigin(reading: start + (RecordHeader.byteCount + index * MoveOrigin.byteCount))
            let offset = frame.offset + UInt64(FrameHeader.byteCount + place)
            guard let whole = origin.from.byteCount, whole >= RecordHeader.byteCount,
                whole <= frame.body.count - place
            else { return lose(frame.managed, offset..<frame.end, "The file ends before, or sizes do not agree.") }
            let header = RecordHeader(reading: start + place)
            let binding = frame.managed.recordBinding(at: offset)
            let isIntact = RecordHeader.verify(start + place, limit: whole, binding: binding) == whole
            if origin.sequence == 0 || origin.sequence > Limits.countMax {
                lose(frame.managed, offset..<(offset + UInt64(whole)), "No transaction can have the record's number.")
            } else if isIntact || frame.areHeadersProven && header.wholeByteCount == whole {
                try apply(header, at: offset, of: frame.managed, origin.sequence, isIntact: isIntact, &tally)
            } else {
                lose(frame.managed, offset..<(offset + UInt64(whole)), "The record does not verify.")
            }
            place += whole
        }
        if place < frame.header.bodyByteCount {
            let end = frame.offset + UInt64(FrameHeader.byteCount + place)
            lose(frame.managed, end..<frame.end, "The bytes are of no record that the frame lists.")
        }
    }
}

extension LenientFrame {
    /// The header of the first record of a moved frame, which lists the origins of the others; nil if it does not
    /// verify.
    fileprivate var moveList: RecordHeader? {
        guard let start = body.baseAddress, header.recordCount > 0 else { return nil }
        let list = RecordHeader(reading: start)
        let binding = managed.recordBinding(at: offset + UInt64(FrameHeader.byteCount))
        guard list.operation == RecordOperation.moved.rawValue, list.table == 0, list.id == 0,
            list.storedByteCount == (header.recordCount - 1) * MoveOrigin.byteCount,
            RecordHeader.verify(start, limit: body.count, binding: binding) != nil
        else { return nil }
        return list
    }
}
