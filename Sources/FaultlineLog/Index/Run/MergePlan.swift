/// Chooses the runs of an index to merge next.
///
/// A flush writes a run of level 0. Four runs of a level make one of the next, so each entry is written once a level,
/// and the runs of a level are four times as large as those of the level below. Levels rise with age, so the runs of a
/// plan are always neighbours. If there are still more than twelve runs, the newest are merged until there are not.
package struct MergePlan: Sendable, Equatable {
    package static let runsALevel = 4
    package static let runCountMax = 12

    /// Indices in the list of runs, newest first.
    package let range: Range<Int>
    /// The level of the merged run.
    package let level: UInt16
    /// Whether the oldest run is among them.
    package let isOldestIncluded: Bool

    /// The next merge that is due; nil if none is.
    ///
    /// - Parameter runs: Newest first; levels do not fall.
    package init?(_ runs: [RunDescription]) {
        self.init(levels: runs.map(\.level))
    }

    /// - Parameter levels: The levels of the runs, newest first; they do not fall.
    init?(levels: [UInt16]) {
        var start = 0
        while start < levels.count {
            var end = start
            while end < levels.count, levels[end] <= levels[start] { end += 1 }
            if end - start >= Self.runsALevel {
                // The oldest of the level, so that a burst of flushes is merged in order.
                self.init(levels, (end - Self.runsALevel)..<end)
                return
            }
            start = end
        }
        guard levels.count > Self.runCountMax else { return nil }
        // Whole levels, from the newest, until few enough runs are left.
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
