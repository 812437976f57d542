/// Which segments are worth compacting.
///
/// Of those that compete, records or blobs: every one that is less than a quarter live; and, while all take more than one
/// and a half times what is live, the one with the most to gain for the bytes that have to be copied, older ones first:
/// (1 - u) x age / (1 + u), where u is the live share (Rosenblum and Ousterhout, "The Design and Implementation of a
/// Log-Structured File System", 1992, section 3.6).
///
/// Delete records are needed as long as a segment may hold an older version. Where they come to more than a quarter of
/// what is live, the segment that was begun first is compacted: it is what they are kept for.
///
/// A segment that could not be dropped without another is chosen only with that one.
struct VictimChoice {
    /// A segment, taken or not.
    struct Segment {
        let number: UInt64
        let byteCount: UInt64
        /// Bytes of the newest versions, or of blobs that are placed.
        let liveByteCount: UInt64
        /// Bytes of delete and drop-table records, as far as is known.
        var deleteByteCount: UInt64
        /// The newest transaction before it.
        let begun: UInt64
        /// The newest transaction in it.
        let lastSequence: UInt64
        /// Whether it may be taken.
        let isCandidate: Bool
        /// The segment that has to go with it, because it has the beginning of a transaction that goes on in this one.
        var beginning: UInt64?

        /// Bytes that would be copied.
        var keptByteCount: UInt64 { min(liveByteCount + deleteByteCount, byteCount) }
        var gain: UInt64 { byteCount - keptByteCount }
        var share: Double { byteCount == 0 ? 0 : Double(keptByteCount) / Double(byteCount) }
    }

    /// Below this share a segment is always worth it.
    private static let shareMin = 0.25
    /// All segments take at most so many times what is live.
    private static let amplificationMax = 1.5
    /// Delete records take at most this part of what is live.
    private static let deleteShareMax = 0.25
    /// A segment that is hardly dead is left alone, whatever the others are.
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
            // The smallest of the others'.
            let least = segment.begun == begun.first ? begun.dropFirst().first : begun.first
            if least ?? .max >= segment.lastSequence { segment.deleteByteCount = 0 }
            return segment
        }
    }

    /// The segments to compact, those that are best first, and the bytes that this gains; none if that is less than
    /// `minimumGain`.
    func choose(minimumGain: UInt64) -> (numbers: [UInt64], gain: UInt64) {
        var total = segments.reduce(UInt64(0)) { $0 + $1.byteCount }
        let live = segments.reduce(UInt64(0)) { $0 + $1.liveByteCount }
        var chosen: [Segment] = []
        for segment in segments.filter(\.isCandidate).sorted(by: isBetter) where segment.gain > 0 {
            let isExceeded = Double(total) > Double(live) * Self.amplificationMax
            guard segment.share < Self.shareMin || (isExceeded && segment.share < Self.shareMax) else { continue }
            total -= segment.gain
            chosen.append(segment)
        }
        var numbers: Set<UInt64> = []
        for segment in chosen.sorted(by: { $0.number < $1.number }) {
            if let beginning = segment.beginning, !numbers.contains(beginning) { continue }
            numbers.insert(segment.number)
        }
        chosen.removeAll { !numbers.contains($0.number) }
        var gain = chosen.reduce(UInt64(0)) { $0 + $1.gain }
        if let oldest = oldestForDeletes(live: live), !chosen.contains(where: { $0.number == oldest.number }) {
            chosen.append(oldest)
            gain += segments.reduce(UInt64(0)) { $0 + $1.deleteByteCount }
        }
        return gain >= max(minimumGain, 1) ? (chosen.map(\.number), gain) : ([], 0)
    }

    private func isBetter(_ left: Segment, _ right: Segment) -> Bool {
        let (first, second) = (score(left), score(right))
        return first == second ? left.number < right.number : first > second
    }

    private func score(_ segment: Segment) -> Double {
        let age = Double(newest > segment.lastSequence ? newest - segment.lastSequence : 0) + 1
        return (1 - segment.share) * age / (1 + segment.share)
    }

    private func oldestForDeletes(live: UInt64) -> Segment? {
        let deletes = segments.reduce(UInt64(0)) { $0 + $1.deleteByteCount }
        guard Double(deletes) > Double(live) * Self.deleteShareMax,
            let oldest = segments.min(by: { ($0.begun, $0.number) < ($1.begun, $1.number) }), oldest.isCandidate
        else { return nil }
        return oldest
    }
}
