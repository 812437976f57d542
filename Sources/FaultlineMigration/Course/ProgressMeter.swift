internal import FaultlineDisk

/// Counts the objects of one pass over one entity, and decides when to report progress.
struct ProgressMeter {
    private let beginNanoseconds: UInt64
    /// Objects that were done when the pass was resumed.
    private let beginDone: Int
    private var toldNanoseconds: UInt64
    private var toldDone: Int
    private(set) var done: Int
    let total: Int

    /// Objects between two reports, at any speed.
    private static let objectsMax = 1_000
    /// Nanoseconds between two reports, for any number of objects.
    private static let nanosecondsMax: UInt64 = 100_000_000

    init(done: Int, total: Int, now: UInt64) {
        self.done = done
        self.total = total
        beginDone = done
        toldDone = done
        beginNanoseconds = now
        toldNanoseconds = now
    }

    mutating func reach(_ done: Int) { self.done = done }

    /// Whether a report is due.
    func isDue(_ now: UInt64) -> Bool {
        done / Self.objectsMax != toldDone / Self.objectsMax || now &- toldNanoseconds >= Self.nanosecondsMax
    }

    /// Nanoseconds until a report is due, if no object is done; at least 1.
    func untilDue(_ now: UInt64) -> UInt64 {
        let elapsed = now &- toldNanoseconds
        return elapsed < Self.nanosecondsMax ? Self.nanosecondsMax - elapsed : 1
    }

    /// Whether objects were done since the last report.
    var hasNews: Bool { done != toldDone }

    mutating func noteTold(_ now: UInt64) {
        toldNanoseconds = now
        toldDone = done
    }

    /// Objects a second; nil while that is unknown.
    func rate(_ now: UInt64) -> Double? {
        guard now > beginNanoseconds, done > beginDone else { return nil }
        return Double(done - beginDone) * 1e9 / Double(now - beginNanoseconds)
    }

    /// The time for the remaining objects at that rate.
    func timeLeft(_ now: UInt64) -> Duration? {
        guard let rate = rate(now), total >= done else { return nil }
        // More than any practical wait.
        let nanoseconds = Double(total - done) / rate * 1e9
        return nanoseconds < 0x1p62 ? .nanoseconds(Int64(nanoseconds.rounded())) : nil
    }
}
