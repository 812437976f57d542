/// The threads of an executor pool: how many there are, and how many of them may run jobs.
///
/// As many run as there are processors: more of them would only take each other's time, and the jobs that they hold
/// would wait. A thread that was at one job for a tick or two may be waiting for the disk or for a lock, so it does not
/// count. While as many run as may, one of the others watches, if one is left: it looks once each tick whether it may
/// run too.
package struct PoolThreads {
    /// A thread for work that has come: one that waits, or one that must be made.
    package enum Source { case idle, new }

    /// A time in milliseconds, from any beginning.
    package typealias Tick = Int

    /// The reason why a thread looks for work.
    package enum Arrival: Equatable {
        /// It was woken or made.
        case taken
        /// It was lent by Dispatch.
        case lent
        /// It has watched for a tick.
        case watched
        /// It has run a job that began at a tick.
        case ran(Tick)
    }

    /// The next step of a thread without a job.
    package enum Step: Equatable {
        /// It runs a job that begins at a tick.
        case run(Tick)
        case watch, wait, end
    }

    let countMax: Int
    /// Threads that may run at once, besides those that are long at one job.
    let runningCountMax: Int
    /// Threads that live.
    package private(set) var count = 0
    /// Threads that wait until they are woken.
    package private(set) var idleCount = 0
    /// Threads that were woken or made and have not looked for work yet.
    private var comingCount = 0
    /// Whether a thread watches the others.
    private var isWatched = false
    private var tick: Tick = 0
    /// Running jobs that began at this tick, and at the one before.
    private var newCount = 0
    private var earlierCount = 0

    package init(countMax: Int, runningCountMax: Int) {
        self.countMax = countMax
        self.runningCountMax = min(runningCountMax, countMax)
    }

    /// Whether a thread that looks for work may run a job.
    package var mayRun: Bool { newCount + earlierCount < runningCountMax }

    /// Whether one more thread may run than do and will.
    private var mayRunMore: Bool { newCount + earlierCount + comingCount < runningCountMax }

    /// Whether a job that comes now is run at once, if none waits.
    package mutating func canRun(at now: Tick) -> Bool {
        pass(to: now)
        return mayRunMore && (idleCount > 0 || count < countMax)
    }

    /// Takes a thread for work that has come.
    ///
    /// - Parameter now: The time.
    /// - Returns: Nil if the threads that run take the work when they are free, or if there is no further thread.
    package mutating func take(at now: Tick) -> Source? {
        pass(to: now)
        // Where enough threads run, one watches them.
        guard mayRunMore || !isWatched && comingCount == 0 else { return nil }
        if idleCount > 0 {
            idleCount -= 1
            comingCount += 1
            return .idle
        }
        guard count < countMax else { return nil }
        count += 1
        comingCount += 1
        return .new
    }

    /// Records that the system could not make a thread that was taken, and that Dispatch will lend one later.
    package mutating func noteLent() { comingCount -= 1 }

    /// Lets an idle thread end.
    ///
    /// - Returns: False if none is idle: the one that asks was taken at the last moment.
    package mutating func endIdle() -> Bool {
        guard idleCount > 0 else { return false }
        idleCount -= 1
        count -= 1
        return true
    }

    /// Takes all idle threads.
    ///
    /// - Returns: Their number.
    package mutating func takeAll() -> Int {
        defer { idleCount = 0 }
        comingCount += idleCount
        return idleCount
    }

    /// Records that a thread looks for work.
    ///
    /// - Parameters:
    ///   - arrival: The reason.
    ///   - now: The time.
    package mutating func note(_ arrival: Arrival, at now: Tick) {
        pass(to: now)
        switch arrival {
        case .taken: comingCount -= 1
        case .lent: break
        case .watched: isWatched = false
        case .ran(tick): newCount -= 1
        case .ran(tick - 1): earlierCount -= 1
        case .ran: break
        }
    }

    /// Decides the next step of a thread without a job.
    ///
    /// - Parameters:
    ///   - hasJob: Whether it has taken a job, as it does where `mayRun` is true and one waits.
    ///   - jobsWait: Whether jobs wait.
    ///   - isEnding: Whether the pool needs it no more.
    /// - Returns: The step, of which note is taken.
    package mutating func next(hasJob: Bool, jobsWait: Bool, isEnding: Bool) -> Step {
        if hasJob {
            newCount += 1
            return .run(tick)
        }
        // Without jobs that wait it watches too: the next one would wake it in any case.
        if !isWatched && (jobsWait || !mayRun && !isEnding) {
            isWatched = true
            return .watch
        }
        if isEnding {
            count -= 1
            return .end
        }
        idleCount += 1
        return .wait
    }

    private mutating func pass(to now: Tick) {
        guard now != tick else { return }
        earlierCount = now == tick + 1 ? newCount : 0
        newCount = 0
        tick = now
    }
}
