/// The threads of an executor pool: how many there are, and how many of them may run jobs.
///
/// As many run as there are processors: more of them would only take each other's time, and the jobs that they hold
/// would wait. A thread that was at one job for more than a tick may be waiting for the disk or for a lock, so it does not
/// count. While jobs wait, one of the other threads watches: it looks once each tick whether it should run too.
package struct PoolThreads {
    /// A thread for work that has come: one that waits, or one that must be made.
    package enum Source { case idle, new }

    /// The moment when a job began to run.
    package typealias Tick = Int

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

    /// Whether a thread has no job, or can be made.
    package var hasFree: Bool { idleCount > 0 || isWatched || count < countMax }

    /// Whether a thread that looks for work may run a job.
    package var mayRun: Bool { newCount + earlierCount < runningCountMax }

    /// Takes a thread for work that has come.
    ///
    /// - Returns: Nil if the threads that run take the work when they are free, or if there is no further thread.
    package mutating func take() -> Source? {
        let isNeeded = newCount + earlierCount + comingCount < runningCountMax
        // Where enough threads run, one watches them.
        guard isNeeded || !isWatched && comingCount == 0 else { return nil }
        if idleCount > 0 {
            idleCount -= 1
        } else if count < countMax {
            count += 1
            comingCount += 1
            return .new
        } else {
            return nil
        }
        comingCount += 1
        return .idle
    }

    /// Takes note that a thread that was taken looks for work.
    package mutating func noteCame() { comingCount -= 1 }

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
    package mutating func wakeAll() -> Int {
        defer { idleCount = 0 }
        comingCount += idleCount
        return idleCount
    }

    // MARK: Jobs

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
        if jobsWait && !isWatched {
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

    /// Takes note that a job has run that began at a tick.
    package mutating func noteJobEnds(_ beginning: Tick) {
        if beginning == tick { newCount -= 1 } else if beginning == tick - 1 { earlierCount -= 1 }
    }

    /// Takes note that a tick is over, and that the thread which watched looks for work.
    package mutating func endWatching() {
        isWatched = false
        tick += 1
        earlierCount = newCount
        newCount = 0
    }
}
