import Faultline
import FaultlineDisk
import FaultlineObjects
import Foundation

/// A disk in memory whose commits can be held up, and are counted.
// Safe because the condition guards what changes.
final class GatedDisk: ForwardingDisk, @unchecked Sendable {
    private let condition = NSCondition()
    private var isOpen = true
    private var count = 0
    private var failure: DiskError?

    init() { super.init(over: MemoryDisk()) }

    /// Synchronizations of commits so far, those included that are held up.
    var commitCount: Int { condition.withLock { count } }

    func close() { condition.withLock { isOpen = false } }

    func open() {
        condition.withLock { isOpen = true }
        condition.broadcast()
    }

    /// Makes the synchronizations that follow fail.
    func fail() {
        condition.withLock { failure = DiskError(errorNumber: EIO, systemCall: .fsync, path: "a test's disk") }
    }

    fileprivate func pass() throws(DiskError) {
        condition.lock()
        count += 1
        while !isOpen { condition.wait() }
        let failure = failure
        condition.unlock()
        if let failure { throw failure }
    }

    override func open(_ path: String, for access: FileAccess) throws(DiskError) -> DiskFile {
        GatedFile(try base.open(path, for: access), self)
    }

    // Safe because its properties do not change.
    private final class GatedFile: ForwardingDiskFile, @unchecked Sendable {
        private let disk: GatedDisk

        init(_ base: DiskFile, _ disk: GatedDisk) {
            self.disk = disk
            super.init(over: base)
        }

        override func synchronize(site: SyncSite) throws(DiskError) {
            if site == "log.commit" { try disk.pass() }
            try base.synchronize(site: site)
        }
    }
}

/// A container whose `perform` has few threads.
struct PerformingStore: Sendable {
    let disk = GatedDisk()
    let container: ModelContainer

    init(
        threads: Int, queueLimit: Int = 10_000, longestWait: Duration? = nil,
        durability: StoreOptions.Durability = .sync
    )
        throws
    {
        var configuration = ModelConfiguration(url: URL(filePath: "/performing"))
        configuration.options.performing.threadCount = threads
        configuration.options.performing.queueLimit = queueLimit
        configuration.options.performing.longestWait = longestWait
        configuration.options.durability = durability
        container = try StoreDisk.$current.withValue(disk) {
            try ModelContainer(for: Folder.self, Refusable.self, configurations: configuration)
        }
    }

    var counts: ExecutorPool.Counts { container.performing.pool.counts }

    /// Waits until the pool is in a state.
    ///
    /// - Throws: `CancellationError`; `Overdue` after five minutes, because the suite's time limit does not end a task that
    ///   a test has made.
    func wait(until isReached: (ExecutorPool.Counts) -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(300)
        while !isReached(counts) {
            guard .now < end else { throw Overdue(counts: counts) }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// The pool has not reached the state that a test waits for.
    struct Overdue: Error {
        let counts: ExecutorPool.Counts
    }
}

/// Holds threads until it is opened.
// Safe because the condition guards what changes.
final class Barrier: @unchecked Sendable {
    private let condition = NSCondition()
    private var isOpen = false
    private var waiting = 0

    var waitingCount: Int { condition.withLock { waiting } }

    func wait() {
        condition.lock()
        waiting += 1
        while !isOpen { condition.wait() }
        condition.unlock()
    }

    func open() {
        condition.withLock { isOpen = true }
        condition.broadcast()
    }
}
