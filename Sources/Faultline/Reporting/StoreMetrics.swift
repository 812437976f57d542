internal import CoreMetrics
internal import Dispatch
internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineMigration
internal import FaultlineObjects
internal import Synchronization

/// Emits metrics of a store's work and contents.
///
/// Durations and rot are pushed as they occur. Counters that the engine keeps in any case (commits, bytes, faults,
/// rows) are read every few seconds and at each checkpoint, and their growth is emitted. Pushing them would call
/// foreign code on the path of each fault, only to report the same numbers a few seconds sooner.
final class StoreMetrics: Sendable {
    private let commits: Counter
    private let logBytesWritten: Counter
    private let spaceWaits: Counter
    private let spaceWaitMilliseconds: Counter
    private let faultsFired: Counter
    private let rowsRead: Counter
    private let blobBytesRead: Counter
    private let compactionBytesMoved: Counter
    private let rotMet: Counter
    private let cacheBytes: Gauge
    private let diskBytes: Gauge
    private let liveShare: Gauge
    private let pinnedBytes: Gauge
    private let retainedBytes: Gauge
    private let openFiles: Gauge
    private let commitDuration: CoreMetrics.Timer
    private let syncDuration: CoreMetrics.Timer
    private let checkpointDuration: CoreMetrics.Timer
    private let compactionDuration: CoreMetrics.Timer
    private let openDuration: CoreMetrics.Timer
    private let migrations: MigrationMetrics

    private let interval: DispatchTimeInterval
    private let queue = DispatchQueue(label: "faultline.metrics")
    private let state = Guarded(State())

    /// The sources of the counters, and the numbers emitted so far.
    private struct State {
        weak var log: Log?
        var tallies: ReadTallies?
        var readsEngine = false
        var hasEnded = false
        var figures = LogFigures()
        var reads = FaultCounters()
    }

    init(_ metrics: StoreReporting.Metrics, name: String) {
        let factory = metrics.factory ?? MetricsSystem.factory
        let dimensions = [("store", name)] + metrics.dimensions
        func counter(_ name: String) -> Counter {
            Counter(label: "faultline_\(name)", dimensions: dimensions, factory: factory)
        }
        func gauge(_ name: String) -> Gauge {
            Gauge(label: "faultline_\(name)", dimensions: dimensions, factory: factory)
        }
        func timer(_ name: String) -> CoreMetrics.Timer {
            CoreMetrics.Timer(label: "faultline_\(name)", dimensions: dimensions, factory: factory)
        }
        commits = counter("commits")
        logBytesWritten = counter("log_bytes_written")
        spaceWaits = counter("space_waits")
        spaceWaitMilliseconds = counter("space_wait_milliseconds")
        faultsFired = counter("faults_fired")
        rowsRead = counter("rows_read")
        blobBytesRead = counter("blob_bytes_read")
        compactionBytesMoved = counter("compaction_bytes_moved")
        rotMet = counter("rot_met")
        cacheBytes = gauge("cache_bytes")
        diskBytes = gauge("disk_bytes")
        liveShare = gauge("live_share")
        pinnedBytes = gauge("pinned_bytes")
        retainedBytes = gauge("retained_bytes")
        openFiles = gauge("open_files")
        commitDuration = timer("commit_duration")
        syncDuration = timer("sync_duration")
        checkpointDuration = timer("checkpoint_duration")
        compactionDuration = timer("compaction_duration")
        openDuration = timer("open_duration")
        migrations = MigrationMetrics(counter: counter, timer: timer)
        let (seconds, attoseconds) = max(metrics.interval, .milliseconds(100)).components
        interval = .milliseconds(
            Int(clamping: min(seconds, 1 << 32) * 1_000 + attoseconds / 1_000_000_000_000_000))
    }

    // MARK: Pushed

    func take(_ event: LogEvent) {
        switch event {
        case .opened(_, let nanoseconds): openDuration.recordNanoseconds(Int64(clamping: nanoseconds))
        case .checkpointMade(_, _, let nanoseconds):
            checkpointDuration.recordNanoseconds(Int64(clamping: nanoseconds))
            read()
        case .compactionEnded(_, let movedByteCount, _, let nanoseconds):
            compactionDuration.recordNanoseconds(Int64(clamping: nanoseconds))
            compactionBytesMoved.increment(by: Int64(clamping: movedByteCount))
            read()
        case .rotMet: rotMet.increment()
        default: break
        }
    }

    func take(_ event: MigrationEvent) { migrations.take(event) }

    func committed(nanoseconds: UInt64, syncs: [UInt64]) {
        commitDuration.recordNanoseconds(Int64(clamping: nanoseconds))
        for sync in syncs { syncDuration.recordNanoseconds(Int64(clamping: sync)) }
    }

    // MARK: Read

    /// Begins to read counters.
    ///
    /// - Parameters:
    ///   - log: The engine.
    ///   - tallies: The counters of the container's contexts.
    ///   - readsEngine: Whether this store emits the engine's own counters; if not, another container does.
    func begin(_ log: Log, _ tallies: ReadTallies, readsEngine: Bool) {
        state.withLock {
            $0.log = log
            $0.tallies = tallies
            $0.readsEngine = readsEngine
        }
        read()
        readLater()
    }

    /// Reads the counters a last time.
    func end() {
        read()
        state.withLock { $0.hasEnded = true }
    }

    private func readLater() {
        queue.asyncAfter(deadline: .now() + interval) { [weak self] in
            guard let self, !self.state.withLock({ $0.hasEnded }) else { return }
            self.read()
            self.readLater()
        }
    }

    /// Emits the growth since the last time; the metrics' own code runs without the lock.
    private func read() {
        let grown: (before: LogFigures, reads: FaultCounters, figures: LogFigures?) = state.withLock {
            let reads = $0.tallies?.sum ?? FaultCounters()
            let grownReads = reads - $0.reads
            $0.reads = reads
            let before = $0.figures
            guard $0.readsEngine, let figures = $0.log?.figures else { return (before, grownReads, nil) }
            $0.figures = figures
            return (before, grownReads, figures)
        }
        Self.add(grown.reads.faultsFired, to: faultsFired)
        Self.add(grown.reads.rowsRead, to: rowsRead)
        Self.add(grown.reads.blobBytesRead, to: blobBytesRead)
        guard let figures = grown.figures else { return }
        Self.add(grown.before.commitCount, figures.commitCount, to: commits)
        Self.add(grown.before.writtenByteCount, figures.writtenByteCount, to: logBytesWritten)
        Self.add(grown.before.spaceWaitCount, figures.spaceWaitCount, to: spaceWaits)
        Self.add(
            grown.before.spaceWaitNanoseconds / 1_000_000, figures.spaceWaitNanoseconds / 1_000_000,
            to: spaceWaitMilliseconds)
        cacheBytes.record(figures.memoryByteCount)
        diskBytes.record(Int64(clamping: figures.space.byteCount))
        liveShare.record(figures.space.liveShare)
        pinnedBytes.record(Int64(clamping: figures.space.heldByteCount))
        retainedBytes.record(Int64(clamping: figures.space.retainedByteCount))
        openFiles.record(figures.openFileCount)
    }

    /// Emits the growth of a counter of the engine.
    private static func add(_ before: UInt64, _ now: UInt64, to counter: Counter) {
        add(Int(clamping: now - min(before, now)), to: counter)
    }

    private static func add(_ count: Int, to counter: Counter) {
        if count > 0 { counter.increment(by: Int64(count)) }
    }
}
