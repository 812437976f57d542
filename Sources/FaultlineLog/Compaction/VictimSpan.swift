/// Segments that compaction takes together, because each but the first can be dropped only with the one before.
///
/// Segments that begin inside a transaction follow each other in series, of which only a beginning can be dropped. Each
/// series is cut into spans of rising shares: a segment with a smaller live share than the span before it joins that
/// span. So the beginning of a series that costs the fewest copied bytes is always one span or several. Taking spans in
/// the order of their shares takes none before those that must go with it (Sidney, "Decomposition Algorithms for
/// Single-Machine Sequencing with Precedence Relations and Deferral Costs", 1975).
struct VictimSpan {
    /// The segments' numbers, ascending; at least one.
    private(set) var numbers: [UInt64]
    private var byteCount: UInt64
    /// Bytes that would be copied.
    private(set) var keptByteCount: UInt64
    /// The newest transaction in it.
    private(set) var lastSequence: UInt64

    private init(_ segment: VictimChoice.Segment) {
        numbers = [segment.number]
        byteCount = segment.byteCount
        keptByteCount = segment.keptByteCount
        lastSequence = segment.lastSequence
    }

    /// Bytes that are freed.
    var gain: UInt64 { byteCount - keptByteCount }
    /// The share of it that would be copied.
    var share: Double { byteCount == 0 ? 0 : Double(keptByteCount) / Double(byteCount) }

    /// The spans of the segments that may be taken: they are candidates, and so are all that must go with them.
    static func spans(of segments: [VictimChoice.Segment]) -> [VictimSpan] {
        var all: [[VictimSpan]] = []
        var seriesOf: [UInt64: Int] = [:]
        for segment in segments.sorted(by: { $0.number < $1.number }) where segment.isCandidate {
            let span = VictimSpan(segment)
            guard let beginning = segment.beginning else {
                seriesOf[segment.number] = all.count
                all.append([span])
                continue
            }
            guard let series = seriesOf[beginning] else { continue }
            seriesOf[segment.number] = series
            all[series].append(span)
            join(&all[series])
        }
        return all.flatMap { $0 }
    }

    /// Joins the last two spans while the last has the smaller share.
    private static func join(_ series: inout [VictimSpan]) {
        while let last = series.popLast() {
            guard let previous = series.last, last.share < previous.share else {
                series.append(last)
                return
            }
            series[series.count - 1].append(last)
        }
    }

    private mutating func append(_ next: VictimSpan) {
        numbers += next.numbers
        byteCount += next.byteCount
        keptByteCount += next.keptByteCount
        lastSequence = max(lastSequence, next.lastSequence)
    }
}
