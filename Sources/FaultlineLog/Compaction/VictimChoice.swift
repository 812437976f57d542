/// Chooses the segments worth compacting.
///
/// Of those that compete, records or blobs: every segment that is less than a quarter live. And, while all take more
/// than one and a half times the live bytes, the one with the most to gain for the bytes to be copied, older ones
/// first: (1 - u) x age / (1 + u), where u is the live share (Rosenblum and Ousterhout, "The Design and Implementation
/// of a Log-Structured File System", 1992, section 3.6). Dead segments come first: they cost nothing.
///
/// Delete records are needed as long as a segment may hold an older version. Where they come to more than a quarter of
/// the live bytes, the segment that was begun first is compacted: the deletes are kept because of it.
///
/// Small segments are merged when there are too many of them, however little of them is dead: those that an opening
/// behind a torn tail, an upload or an earlier compaction leaves would otherwise keep their files for ever.
///
/// A segment that begins inside a transaction goes only with the one that has the part before. So the unit of choice is
/// a `VictimSpan`: a live segment is copied for the dead ones that it keeps, if all of them together are worth it.
struct VictimChoice {
    /// A segment, taken or not.
    struct Segment {
        let number: UInt64
        private(set) var byteCount: UInt64
        /// Bytes of the newest versions, or of blobs that are placed.
        let liveByteCount: UInt64
        /// The live bytes once they are copied.
        ///
        /// Records hardly larger than their origins must not look as if a part of them were dead.
        let copiedByteCount: UInt64
        /// Bytes of delete and drop-table records, as far as they are known.
        var deleteByteCount: UInt64
        /// The newest transaction before it.
        let begun: UInt64
        /// The newest transaction in it.
        let lastSequence: UInt64
        /// Whether it may be taken, apart from the segments that must go with it.
        private(set) var isCandidate: Bool
        /// The segment that must go with it: it has the beginning of a transaction that continues in this one.
        var beginning: UInt64?

        /// Bytes to be written to keep the needed part of it.
        var keptByteCount: UInt64 { min(copiedByteCount + deleteByteCount, byteCount) }

        init(
            number: UInt64, byteCount: UInt64, liveByteCount: UInt64, copiedByteCount: UInt64, deleteByteCount: UInt64,
            begun: UInt64, lastSequence: UInt64, isCandidate: Bool
        ) {
            self.number = number
            self.byteCount = byteCount
            self.liveByteCount = liveByteCount
            self.copiedByteCount = copiedByteCount
            self.deleteByteCount = deleteByteCount
            self.begun = begun
            self.lastSequence = lastSequence
            self.isCandidate = isCandidate
        }

        /// Counts it as one that stays, however much of it is dead.
        mutating func keep() {
            isCandidate = false
            byteCount = liveByteCount
        }
    }

    /// When small segments are merged.
    struct Merging {
        /// More than so many of one kind are merged by the compaction of itself.
        static let usualCountMax = 12

        /// Segments of fewer bytes are small.
        let smallByteCount: UInt64
        /// The most small segments that are left alone.
        let countMax: Int

        /// - Parameters:
        ///   - segmentByteCount: Bytes of a full segment, of which small ones have less than an eighth.
        ///   - countMax: The most that are left alone.
        init(segmentByteCount: UInt64, countMax: Int = usualCountMax) {
            smallByteCount = segmentByteCount / 8
            self.countMax = countMax
        }
    }

    /// Below this share a segment is always worth it.
    private static let shareMin = 0.25
    /// All segments take at most this multiple of the live bytes.
    private static let amplificationMax = 1.5
    /// Delete records take at most this part of the live bytes.
    private static let deleteShareMax = 0.25
    /// A segment with a larger live share is left alone, regardless of the others' shares.
    private static let shareMax = 0.95

    private var segments: [Segment]
    private let newest: UInt64

    /// - Parameters:
    ///   - segments: All of one kind that compete.
    ///   - newest: The newest transaction, from which age is counted.
    init(_ segments: [Segment], newest: UInt64) {
        self.newest = newest
        let begun = segments.map(\.begun).sorted()
        self.segments = segments.map { segment in
            var segment = segment
            // The smallest of the other segments.
            let least = segment.begun == begun.first ? begun.dropFirst().first : begun.first
            if least ?? .max >= segment.lastSequence { segment.deleteByteCount = 0 }
            return segment
        }
    }

    /// Chooses the segments to compact, the best first, and the bytes that this gains; none if that is less than
    /// `minimumGain`.
    ///
    /// No segment precedes one that must go with it. Once the others gain enough, segments that would raise the bytes
    /// copied above `copiedMax` are left for another time.
    func choose(minimumGain: UInt64, copiedMax: UInt64) -> (numbers: [UInt64], gain: UInt64) {
        var total = segments.reduce(UInt64(0)) { $0 + $1.byteCount }
        let live = segments.reduce(UInt64(0)) { $0 + $1.liveByteCount }
        var numbers: [UInt64] = []
        var gain: UInt64 = 0
        var copied: UInt64 = 0
        for span in VictimSpan.spans(of: segments).sorted(by: isBetter) where span.gain > 0 {
            let isExceeded = Double(total) > Double(live) * Self.amplificationMax
            guard span.share < Self.shareMin || (isExceeded && span.share < Self.shareMax) else { continue }
            copied += span.keptByteCount
            if copied > copiedMax, gain >= max(minimumGain, 1) { break }
            total -= span.gain
            gain += span.gain
            numbers += span.numbers
        }
        if let oldest = oldestForDeletes(live: live), !numbers.contains(oldest.number) {
            numbers.append(oldest.number)
            gain += segments.reduce(UInt64(0)) { $0 + $1.deleteByteCount }
        }
        return gain >= max(minimumGain, 1) ? (numbers, gain) : ([], 0)
    }

    /// Chooses small segments to merge, ascending, besides those that are chosen for their dead bytes; none if there
    /// are few.
    ///
    /// - Parameters:
    ///   - merging: When they are merged.
    ///   - chosen: Segments that are taken before.
    ///   - copiedMax: About how many bytes to copy at most.
    /// - Returns: The segments.
    func merges(_ merging: Merging, besides chosen: [UInt64], copiedMax: UInt64) -> [Segment] {
        var taken = Set(chosen)
        let small = segments.filter {
            $0.isCandidate && $0.byteCount < merging.smallByteCount && !taken.contains($0.number)
        }
        guard small.count > merging.countMax else { return [] }
        var copied: UInt64 = 0
        var merges: [Segment] = []
        for segment in small.sorted(by: { $0.number < $1.number }) {
            if let beginning = segment.beginning, !taken.contains(beginning) { continue }
            copied += segment.keptByteCount
            if copied > copiedMax, merges.count > 1 { break }
            taken.insert(segment.number)
            merges.append(segment)
        }
        return merges.count > 1 ? merges : []
    }

    /// Whether `left` is compacted before `right`.
    ///
    /// Of two spans of a series the earlier one always comes first: it has the smaller share, and is older.
    private func isBetter(_ left: VictimSpan, _ right: VictimSpan) -> Bool {
        if (left.share == 0) != (right.share == 0) { return left.share == 0 }
        let (first, second) = (score(left), score(right))
        return first == second ? left.numbers[0] < right.numbers[0] : first > second
    }

    private func score(_ span: VictimSpan) -> Double {
        let age = Double(newest > span.lastSequence ? newest - span.lastSequence : 0) + 1
        return (1 - span.share) * age / (1 + span.share)
    }

    private func oldestForDeletes(live: UInt64) -> Segment? {
        let deletes = segments.reduce(UInt64(0)) { $0 + $1.deleteByteCount }
        guard Double(deletes) > Double(live) * Self.deleteShareMax,
            let oldest = segments.min(by: { ($0.begun, $0.number) < ($1.begun, $1.number) }), oldest.isCandidate
        else { return nil }
        return oldest
    }
}
