/// Which runs of an index to merge next.
///
/// A flush writes a run of level 0. Four runs of a level make one of the next, so each entry is written once a level,
/// and a level holds four times what the one below does. Because levels rise with age, the runs of a plan are always
/// neighbours. Should there be more than twelve runs all the same, the newest are merged until there are not.
package struct MergePlan: Sendable, Equatable {
    package static let runsALevel = 4
    package static let runCountMax = 12

    /// Places in the list of runs, newest first.
    package let range: Range<Int>
    /// Of the run that they become.
    package let level: UInt16
    /// The oldest run is among them.
    package let isOldestIncluded: Bool

    /// The next merge that is due; nil if none is.
    ///
    /// - Parameter runs: Newest first; levels do not fall.
    package init?(_ runs: [RunDescription]) {
        self.init(levels: runs.map(\.level))
    }

    /// - Parameter levels: Those of the runs, newest first; they do not fall.
    init?(levels: [UInt16]) {
        var start = 0
        while start < levels.count {
            var end = start
            while end < levels.count, levels[end] <= levels[start] { end += 1 }
            if end - start >= Self.runsALevel {
                // The oldest of the level, so that a burst of flushes is worked off in order.
                self.init(levels, (end - Self.runsALevel)..<end)
                return
            }
            start = end
        }
        guard levels.count > Self.runCountMax else { return nil }
        // Whole levels, from the newest on, until few enough are left.
        var end = levels.count - Self.runCountMax + 1
        while end < levels.count, levels[end] <= levels[end - 1] { end += 1 }
        self.init(levels, 0..<end)
    }

    private init(_ levels: [UInt16], _ range: Range<Int>) {
        self.range = range
        level = levels[range.upperBound - 1] == .max ? .max : levels[range.upperBound - 1] + 1
        isOldestIncluded = range.upperBound == levels.count
    }
}
