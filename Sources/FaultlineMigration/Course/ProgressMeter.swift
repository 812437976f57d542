internal import FaultlineDisk

/// Counts the objects of one pass over one entity, and says when it is time to tell somebody.
struct ProgressMeter {
    private let beginNanoseconds: UInt64
    /// Objects that were done when the pass went on.
    private let beginDone: Int
    private var toldNanoseconds: UInt64
    private var toldDone: Int
    private(set) var done: Int
    let total: Int

    /// Objects after which it is time, however short it was.
    private static let objectsMax = 1_000
    /// Nanoseconds after which it is time, however few they were.
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

    /// Whether somebody has to be told.
    func isDue(_ now: UInt64) -> Bool {
        done / Self.objectsMax != toldDone / Self.objectsMax || now &- toldNanoseconds >= Self.nanosecondsMax
    }

    /// Nanoseconds until it is time, if nothing is done meanwhile; at least 1.
    func untilDue(_ now: UInt64) -> UInt64 {
        let elapsed = now &- toldNanoseconds
        return elapsed < Self.nanosecondsMax ? Self.nanosecondsMax - elapsed : 1
    }

    /// Whether something was done since somebody was told.
    var hasNews: Bool { done != toldDone }

    mutating func noteTold(_ now: UInt64) {
        toldNanoseconds = now
        toldDone = done
    }

    /// Objects a second; nil as long as nothing is known.
    func rate(_ now: UInt64) -> Double? {
        guard now > beginNanoseconds, done > beginDone else { return nil }
        return Double(done - beginDone) * 1e9 / Double(now - beginNanoseconds)
    }

    /// The time for what is left at that rate.
    func timeLeft(_ now: UInt64) -> Duration? {
        guard let rate = rate(now), total >= done else { return nil }
        // Longer than anybody waits.
        let nanoseconds = Double(total - done) / rate * 1e9
        return nanoseconds < 0x1p62 ? .nanoseconds(Int64(nanoseconds.rounded())) : nil
    }
}
