internal import FaultlineDisk

/// Computes keys that keep the order of a to-many collection, and changes as few of them as possible.
enum OrderKeys {
    /// The distance of a moved member's key to the one before, at the end of a collection.
    private static let step: UInt64 = 256

    /// Assigns keys that rise from position to position.
    ///
    /// Keys on a longest rising sequence stay. The others get keys between their neighbours; if there is no room for
    /// them, the neighbours lose theirs, too.
    ///
    /// - Parameters:
    ///   - keys: Keys in the wanted order; nil for a member that has none yet.
    ///   - end: All keys stay below it, so that the keys of new members, which follow from their numbers, come behind
    ///     all of them. There is room for all keys below it.
    /// - Returns: A key for each position.
    /// - Complexity: O(n log n).
    static func rising(_ keys: [UInt64?], below end: UInt64) -> [UInt64] {
        var kept = longestRise(keys, below: end)
        var result = keys.map { $0 ?? 0 }
        var place = 0
        while place < keys.count {
            if kept[place] {
                place += 1
                continue
            }
            var first = place
            var last = place
            while last + 1 < keys.count, !kept[last + 1] { last += 1 }
            // A run without keys: widen it until it fits between its neighbours.
            while true {
                let count = UInt64(last - first + 1)
                let low = first > 0 ? result[first - 1] : 0
                let high = last + 1 < keys.count ? result[last + 1] : end
                if high > low, high - low > count {
                    let gap = last + 1 < keys.count ? (high - low) / (count + 1) : min(step, (high - low) / (count + 1))
                    for index in first...last { result[index] = low + gap * UInt64(index - first + 1) }
                    break
                }
                guard first > 0 || last + 1 < keys.count else { break }
                if last + 1 < keys.count {
                    last += 1
                    while last + 1 < keys.count, !kept[last + 1] { last += 1 }
                }
                if first > 0 { first -= 1 }
            }
            for index in first...last { kept[index] = true }
            place = last + 1
        }
        return result
    }

    /// Marks a longest strictly rising subsequence (patience sorting).
    private static func longestRise(_ keys: [UInt64?], below end: UInt64) -> [Bool] {
        var tails: [Int] = []
        var before = [Int](repeating: -1, count: keys.count)
        for (place, key) in keys.enumerated() {
            guard let key, key > 0, key < end else { continue }
            let length = tails.partitionPoint { keys[$0] ?? 0 < key }
            if length > 0 { before[place] = tails[length - 1] }
            if length == tails.count { tails.append(place) } else { tails[length] = place }
        }
        var kept = [Bool](repeating: false, count: keys.count)
        var place = tails.last ?? -1
        while place >= 0 {
            kept[place] = true
            place = before[place]
        }
        return kept
    }
}
