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
        var start = 0
        while start < runs.count {
            let level = runs[start].level
            var end = start
            while end < runs.count, runs[end].level <= level { end += 1 }
            if end - start >= Self.runsALevel {
                // The oldest of the level, so that a burst of flushes is worked off in order.
                self.init(runs, (end - Self.runsALevel)..<end)
                return
            }
            start = end
        }
        guard runs.count > Self.runCountMax else { return nil }
        // Whole levels, from the newest on, until few enough are left.
        var end = runs.count - Self.runCountMax + 1
        while end < runs.count, runs[end].level <= runs[end - 1].level { end += 1 }
        self.init(runs, 0..<end)
    }

    private init(_ runs: [RunDescription], _ range: Range<Int>) {
        self.range = range
        level = runs[range.upperBound - 1].level == .max ? .max : runs[range.upperBound - 1].level + 1
        isOldestIncluded = range.upperBound == runs.count
    }
}
