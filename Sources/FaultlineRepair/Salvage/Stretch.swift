import FaultlineLog

/// A part of a hot segment that may belong to a transaction: a frame, or records without a frame header.
struct Stretch {
    let managed: ManagedFile
    var range: Range<UInt64>
    /// Nil for records without a frame header.
    let header: FrameHeader?
    var recordCount: Int

    /// The stretch of a frame.
    init(_ frame: LenientFrame) {
        managed = frame.managed
        range = frame.offset..<frame.end
        header = frame.header
        recordCount = frame.header.recordCount
    }

    /// The stretch of one record without a frame header.
    init(_ managed: ManagedFile, at offset: UInt64, byteCount: Int) {
        self.managed = managed
        range = offset..<(offset + UInt64(byteCount))
        header = nil
        recordCount = 1
    }

    /// The part of it behind a position of the log; nil if there is none.
    func clipped(from place: LogPlace) -> Stretch? {
        if LogPlace(segment: managed.number, offset: range.lowerBound) >= place { return self }
        guard header == nil, managed.number == place.segment, range.upperBound > place.offset else { return nil }
        var clipped = self
        clipped.range = place.offset..<range.upperBound
        return clipped
    }
}

/// A position in the hot log; later segments have larger numbers.
struct LogPlace: Comparable {
    let segment: UInt64
    let offset: UInt64

    static func < (left: LogPlace, right: LogPlace) -> Bool {
        (left.segment, left.offset) < (right.segment, right.offset)
    }
}
