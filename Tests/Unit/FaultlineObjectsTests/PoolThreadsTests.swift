import FaultlineObjects
import FaultlineTestSupport
import Testing

/// How many threads of a pool run, watch and wait.
struct PoolThreadsTests {
    /// A pool of which a test does each step.
    private struct Pool {
        enum Thread: Equatable {
            case coming, watching, idle
            case running(PoolThreads.Tick)
        }

        var threads: PoolThreads
        var living: [Thread] = []
        /// Jobs that wait.
        var waitingCount = 0
        var now = 0

        init(countMax: Int, runningCountMax: Int) {
            threads = PoolThreads(countMax: countMax, runningCountMax: runningCountMax)
        }

        var runningCount: Int { living.count { if case .running = $0 { true } else { false } } }

        /// The running jobs that began at this tick or the one before.
        var newCount: Int { living.count { if case .running(let tick) = $0 { tick > now - 2 } else { false } } }

        mutating func addJob() {
            waitingCount += 1
            provide()
        }

        private mutating func provide() {
            guard waitingCount > 0 else { return }
            switch threads.take(at: now) {
            case .idle:
                // Without an idle thread, the pool would signal none.
                guard let place = living.firstIndex(of: .idle) else { return }
                living[place] = .coming
            case .new: living.append(.coming)
            case nil: break
            }
        }

        /// Lets a thread end its job, its tick or its way, and look for work.
        mutating func look(_ place: Int, isEnding: Bool = false) {
            switch living[place] {
            case .coming: threads.note(.taken, at: now)
            case .watching:
                now += 1
                threads.note(.watched, at: now)
            case .running(let tick): threads.note(.ran(tick), at: now)
            case .idle: return
            }
            let hasJob = threads.mayRun && waitingCount > 0
            if hasJob { waitingCount -= 1 }
            switch threads.next(hasJob: hasJob, jobsWait: waitingCount > 0, isEnding: isEnding) {
            case .run(let tick):
                living[place] = .running(tick)
                provide()
            case .watch: living[place] = .watching
            case .wait: living[place] = .idle
            case .end: living.remove(at: place)
            }
        }

        mutating func canRun() -> Bool { threads.canRun(at: now) }

        /// Lets the time of an idle thread run out.
        mutating func end(_ place: Int) {
            if living[place] == .idle, threads.endIdle() { living.remove(at: place) }
        }

        /// Lets all threads look that are on their way.
        mutating func arrive() {
            while let place = living.firstIndex(of: .coming) { look(place) }
        }
    }

    @Test func `as many threads run as there are processors, and one watches them`() {
        var pool = Pool(countMax: 4, runningCountMax: 2)
        for _ in 0..<10 { pool.addJob() }
        pool.arrive()
        #expect(pool.runningCount == 2)
        #expect(pool.living.count { $0 == .watching } == 1)
        #expect(pool.living.count == 3)
    }

    @Test func `a thread that is long at its job lets another one run`() throws {
        var pool = Pool(countMax: 4, runningCountMax: 2)
        for _ in 0..<3 { pool.addJob() }
        pool.arrive()
        let watching = try #require(pool.living.firstIndex(of: .watching))
        pool.look(watching)
        #expect(pool.runningCount == 2 && pool.living[watching] == .watching)
        pool.look(watching)
        #expect(pool.runningCount == 3)
        #expect(pool.waitingCount == 0)
    }

    @Test func `threads that are long at their jobs make no new job wait`() {
        var pool = Pool(countMax: 4, runningCountMax: 2)
        for _ in 0..<2 { pool.addJob() }
        pool.arrive()
        pool.now += 2
        let canRun = pool.canRun()
        #expect(canRun)
        pool.addJob()
        pool.arrive()
        #expect(pool.runningCount == 3)
    }

    @Test func `a job does not begin at once where as many threads run as may`() {
        var pool = Pool(countMax: 4, runningCountMax: 2)
        var answers = [pool.canRun()]
        for _ in 0..<2 { pool.addJob() }
        answers.append(pool.canRun())
        pool.arrive()
        pool.now += 1
        answers.append(pool.canRun())
        #expect(answers == [true, false, false])
    }

    @Test func `a thread that Dispatch lends keeps no other one from running`() {
        var pool = Pool(countMax: 4, runningCountMax: 1)
        let source = pool.threads.take(at: 0)
        #expect(source == .new)
        pool.threads.noteLent()
        pool.addJob()
        pool.arrive()
        #expect(pool.runningCount == 1)
    }

    @Test func `a thread that was long at its job stops where enough others run`() throws {
        var pool = Pool(countMax: 4, runningCountMax: 1)
        for _ in 0..<2 { pool.addJob() }
        pool.arrive()
        try #require(pool.living.count == 2)
        pool.look(1)
        pool.look(1)
        #expect(pool.runningCount == 2)
        for _ in 0..<2 { pool.addJob() }
        pool.arrive()
        pool.look(0)
        #expect(pool.runningCount == 1 && pool.waitingCount == 2)
        pool.look(1)
        #expect(pool.runningCount == 1 && pool.waitingCount == 1)
    }

    @Test(arguments: Seed.list(40)) func `jobs that wait are seen, in any order of events`(seed: Seed) {
        var random = seed
        let (countMax, runningCountMax) = (1 + random.below(6), 1 + random.below(4))
        var pool = Pool(countMax: countMax, runningCountMax: runningCountMax)
        for _ in 0..<2_000 {
            let place = pool.living.isEmpty ? nil : random.below(pool.living.count)
            switch (random.below(12), place) {
            case (0..<4, _), (_, nil): pool.addJob()
            case (4, let place?): pool.end(place)
            case (5, _): pool.now += 1 + random.below(3)
            case (_, let place?): pool.look(place, isEnding: random.oneIn(10))
            }
            #expect(pool.living.count == pool.threads.count && pool.threads.count <= countMax)
            #expect(pool.living.count { $0 == .idle } == pool.threads.idleCount)
            #expect(pool.newCount <= runningCountMax)
            let isSeen = pool.living.contains { $0 == .coming || $0 == .watching }
            #expect(pool.waitingCount == 0 || isSeen || pool.runningCount == countMax, "\(seed.replayLine)")
        }
        // In the end all threads are idle, and a job runs.
        while let place = pool.living.firstIndex(where: { $0 != .idle }) { pool.look(place) }
        #expect(pool.waitingCount == 0 && pool.threads.idleCount == pool.threads.count)
        pool.now += 2
        pool.addJob()
        pool.arrive()
        #expect(pool.runningCount == 1)
    }

    @Test func `all idle threads are taken when the pool closes`() {
        var pool = Pool(countMax: 3, runningCountMax: 3)
        for _ in 0..<3 { pool.addJob() }
        pool.arrive()
        for place in 0..<3 { pool.look(place) }
        let taken = pool.threads.takeAll()
        #expect(taken == 3)
        pool.living = [.coming, .coming, .coming]
        for _ in 0..<3 { pool.look(0, isEnding: true) }
        #expect(pool.threads.count == 0 && pool.threads.idleCount == 0)
    }
}
