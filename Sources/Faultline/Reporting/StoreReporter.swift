internal import FaultlineLog
internal import FaultlineMigration
internal import FaultlineObjects
internal import Logging

/// Passes the engine's events on to a logger and to metrics.
final class StoreReporter: LogObserver {
    private let logger: Logger?
    private let metrics: StoreMetrics?

    /// Makes a reporter for the requested outputs; nil if there are none.
    init?(_ reporting: StoreReporting, name: String) {
        if reporting.logger == nil, reporting.metrics == nil { return nil }
        logger = reporting.logger
        metrics = reporting.metrics.map { StoreMetrics($0, name: name) }
    }

    var timesCommits: Bool { metrics != nil }

    func observe(_ event: FaultlineLog.LogEvent) {
        logger?.write(event)
        metrics?.take(event)
    }

    func observe(_ event: MigrationEvent) {
        logger?.write(event)
        metrics?.take(event)
    }

    func committed(nanoseconds: UInt64, syncs: [UInt64]) {
        metrics?.committed(nanoseconds: nanoseconds, syncs: syncs)
    }

    /// Begins to read the counters of a container and, if it is the engine's observer, those of the engine.
    func begin(_ log: Log, _ tallies: ReadTallies) {
        metrics?.begin(log, tallies, readsEngine: log.observer === self)
    }

    /// Reads the counters a last time.
    func end() { metrics?.end() }
}
