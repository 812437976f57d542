internal import CoreMetrics
internal import FaultlineMigration

/// Emits the figures of migrations when a stage or the whole migration ends.
struct MigrationMetrics: Sendable {
    private let migrations: Counter
    private let failures: Counter
    private let stages: Counter
    private let objectsRead: Counter
    private let objectsWritten: Counter
    private let bytesWritten: Counter
    private let quarantined: Counter
    private let duration: CoreMetrics.Timer
    private let stageDuration: CoreMetrics.Timer

    init(counter: (String) -> Counter, timer: (String) -> CoreMetrics.Timer) {
        migrations = counter("migrations")
        failures = counter("migration_failures")
        stages = counter("migration_stages")
        objectsRead = counter("migration_objects_read")
        objectsWritten = counter("migration_objects_written")
        bytesWritten = counter("migration_bytes_written")
        quarantined = counter("migration_objects_quarantined")
        duration = timer("migration_duration")
        stageDuration = timer("migration_stage_duration")
    }

    func take(_ event: MigrationEvent) {
        switch event {
        case .began, .stageBegan: break
        case .stageEnded(_, let figures):
            stages.increment()
            add(figures)
        case .stageStopped(_, let figures): add(figures)
        case .ended(let report):
            migrations.increment()
            quarantined.increment(by: Int64(report.quarantinedCount))
            duration.recordNanoseconds(Int64(report.nanoseconds))
        case .failed(let error, _):
            // The caller cancelled it, and knows.
            if (error as? MigrationError)?.code != .cancelled { failures.increment() }
        }
    }

    private func add(_ figures: MigrationEvent.Figures) {
        objectsRead.increment(by: Int64(figures.objectsRead))
        objectsWritten.increment(by: Int64(figures.objectsWritten))
        bytesWritten.increment(by: Int64(figures.bytesWritten))
        stageDuration.recordNanoseconds(Int64(clamping: figures.nanoseconds))
    }
}
