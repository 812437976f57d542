import FaultlineDisk

/// Taking in what compaction moved: records of transactions that have ended, whose numbers stand before them.
extension SalvageReplay {
    /// Reads a cold segment, before or behind any other.
    ///
    /// - Throws: What the disk says, unless it only says that it cannot read.
    mutating func read(cold segment: SalvageSegment) throws(LogError) {
        var scanner = LenientScanner(segment.managed, from: UInt64(FileHeader.byteCount), limit: segment.limit)
        var watermark = segment.durable
        while let piece = try scanner.next() {
            switch piece {
            case .lost(let range):
                if range.upperBound == segment.limit, !segment.isSealed, range.lowerBound >= watermark {
                    tornByteCount += UInt64(range.count)
                } else {
                    lose(segment.managed, range, "The bytes do not verify.")
                }
            case .record(let header, let offset, _):
                let range = offset..<(offset + UInt64(header.wholeByteCount))
                lose(segment.managed, range, "The frame that said when the record was written is lost.")
            case .frame(let frame):
                watermark = max(watermark, frame.header.durable)
                try take(moved: frame)
            }
        }
        if let end = segment.missingFrom { lose(segment.managed, end, "The file ends before.") }
    }

    private mutating func take(moved frame: LenientFrame) throws(LogError) {
        guard frame.header.kind == .moved, frame.header.isUnderstood, frame.areHeadersProven,
            let origins = frame.moveOrigins
        else {
            return lose(
                frame.managed, frame.offset..<frame.end, "The frame does not say when its records were written.")
        }
        let first = frame.offset + UInt64(FrameHeader.byteCount)
        var tally = Tally()
        // The first record is the list itself.
        var index = -1
        try frame.forEachStep { step throws(LogError) in
            guard case .record(let place, let header, let isIntact) = step else { return }
            defer { index += 1 }
            guard index >= 0 else { return }
            let origin = MoveOrigin(reading: origins + index * MoveOrigin.byteCount)
            guard origin.sequence > 0, origin.sequence <= Limits.countMax else { return }
            try apply(
                header, at: first + UInt64(place), of: frame.managed, origin.sequence, isIntact: isIntact, &tally)
        }
    }
}

extension LenientFrame {
    /// Where the records of a moved frame were, one entry for each but the first; nil if that one does not verify.
    fileprivate var moveOrigins: UnsafeRawPointer? {
        guard let start = body.baseAddress, header.recordCount > 0 else { return nil }
        let list = RecordHeader(reading: start)
        let binding = managed.recordBinding(at: offset + UInt64(FrameHeader.byteCount))
        guard list.operation == RecordOperation.moved.rawValue, list.table == 0, list.id == 0,
            list.storedByteCount == (header.recordCount - 1) * MoveOrigin.byteCount,
            RecordHeader.verify(start, limit: body.count, binding: binding) != nil
        else { return nil }
        return start + RecordHeader.byteCount
    }
}
