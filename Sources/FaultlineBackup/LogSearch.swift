internal import FaultlineLog

/// The end of a wanted state in a log.
struct LogSearch {
    /// The newest transaction of the state that was read.
    private(set) var found: LogPlace
    /// The newest transaction that was read.
    private(set) var reached: LogPlace
    /// Whether the log was read to the state's end: to its number, or to a transaction that is not in it.
    private(set) var isPassed: Bool
    /// Whether the search ended at a transaction of the state whose large values are not all there.
    private(set) var lacksValues = false

    /// Reads the log from a place to the state's end.
    ///
    /// - Parameters:
    ///   - goal: The state.
    ///   - walk: The log.
    ///   - start: The place.
    ///   - hasValues: Whether the segments hold the large values that were placed up to a transaction.
    /// - Throws: `LogError` if the log is damaged, or cannot be read.
    init(
        of goal: StateGoal, in walk: LogWalk, from start: LogPlace,
        hasValues: (_ segments: Set<UInt64>, _ end: LogPlace) -> Bool
    ) throws(LogError) {
        (found, reached) = (start, start)
        isPassed = goal.isEnd(start)
        guard !isPassed else { return }
        var isComplete = true
        try walk.forEachTransaction(from: start) { (end, placed) throws(LogError) in
            isComplete = isComplete && hasValues(placed, end)
            reached = end
            if goal.has(end) {
                guard isComplete else {
                    lacksValues = true
                    return false
                }
                found = end
                isPassed = goal.isEnd(end)
            } else {
                isPassed = true
            }
            return goal.goesOn(behind: end)
        }
    }
}
