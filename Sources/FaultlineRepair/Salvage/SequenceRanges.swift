import FaultlineLog

/// A set of sequence numbers that are inserted nearly in order.
///
/// Kept as ranges, so that it takes memory for the gaps only.
struct SequenceRanges: Equatable {
    /// Ascending, with a gap between any two.
    private(set) var ranges: [ClosedRange<UInt64>] = []

    /// Adds a number, at least 1; one that is present already changes nothing.
    ///
    /// - Complexity: O(1) behind all others, else O(ranges).
    mutating func insert(_ number: UInt64) {
        guard let last = ranges.last else {
            ranges.append(number...number)
            return
        }
        if number > last.upperBound {
            if number - 1 == last.upperBound {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
            return
        }
        let place = ranges.firstIndex { number <= $0.upperBound } ?? ranges.count - 1
        guard number < ranges[place].lowerBound else { return }
        let touchesNext = number + 1 == ranges[place].lowerBound
        let touchesPrevious = place > 0 && ranges[place - 1].upperBound + 1 == number
        switch (touchesPrevious, touchesNext) {
        case (true, true):
            ranges[place - 1] = ranges[place - 1].lowerBound...ranges[place].upperBound
            ranges.remove(at: place)
        case (true, false): ranges[place - 1] = ranges[place - 1].lowerBound...number
        case (false, true): ranges[place] = number...ranges[place].upperBound
        case (false, false): ranges.insert(number...number, at: place)
        }
    }

    /// The numbers from `first` to `last` that are not in the set.
    func missing(from first: UInt64, through last: UInt64) -> [ClosedRange<UInt64>] {
        var missing: [ClosedRange<UInt64>] = []
        var next = first
        for range in ranges where next <= last && range.upperBound >= next {
            if next < range.lowerBound { missing.append(next...min(range.lowerBound - 1, last)) }
            next = range.upperBound + 1
        }
        if next <= last { missing.append(next...last) }
        return missing
    }
}
