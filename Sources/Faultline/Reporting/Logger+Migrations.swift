internal import FaultlineMigration
internal import Logging

extension Logger {
    /// Logs an event of a migration: an entry when each stage begins, and one with its cost when it ends.
    func write(_ event: MigrationEvent) {
        switch event {
        case .began(let versions, let isResumed):
            info(
                isResumed ? "A migration goes on." : "A migration begins.",
                metadata: Self.metadata([
                    ("from", versions.first), ("to", versions.last), ("stages", "\(max(versions.count - 1, 0))"),
                ]))
        case .stageBegan(let stage):
            info(
                stage.stage.isRestarted
                    ? "A stage of the migration begins again."
                    : stage.isResumed ? "A stage of the migration goes on." : "A stage of the migration begins.",
                metadata: Self.metadata(Self.place(stage)))
        case .stageEnded(let stage, let figures):
            info(
                "A stage of the migration ended.",
                metadata: Self.metadata(Self.place(stage) + Self.figures(figures)))
        case .stageStopped(let stage, let figures):
            notice(
                "A stage of the migration was stopped.",
                metadata: Self.metadata(Self.place(stage) + Self.figures(figures)))
        case .ended(let report): write(report)
        case .failed(let error, _): write(error)
        }
    }

    private func write(_ report: MigrationReport) {
        let quarantined = report.quarantinedCount
        let metadata = Self.metadata([
            ("from", report.versions.first), ("to", report.versions.last),
            ("objects_read", "\(report.objectsRead)"), ("objects_written", "\(report.objectsWritten)"),
            ("objects_quarantined", "\(quarantined)"), ("bytes", "\(report.bytesWritten)"),
            ("nanoseconds", "\(report.nanoseconds)"), ("resumes", "\(report.resumes)"),
        ])
        if quarantined > 0 {
            warning("The migration ended, and objects went into the quarantine.", metadata: metadata)
        } else {
            notice("The migration ended.", metadata: metadata)
        }
    }

    private func write(_ error: any Error) {
        let known = error as? MigrationError
        let metadata = Self.metadata([
            ("code", known.map { "\($0.code)" }), ("stage", known?.stage), ("entity", known?.entityName),
            ("property", known?.propertyName), ("object", known?.object.map { "\($0)" }),
        ])
        if known?.code == .cancelled {
            notice("The migration was cancelled.", metadata: metadata)
        } else {
            self.error("The store was not migrated. \(error)", metadata: metadata)
        }
    }

    private static func place(_ stage: MigrationEvent.Stage) -> [(String, String?)] {
        [
            ("from", stage.stage.from), ("to", stage.stage.to), ("kind", stage.kind.rawValue),
            ("stage", "\(stage.stage.place) of \(stage.stage.count)"),
        ]
    }

    private static func figures(_ figures: MigrationEvent.Figures) -> [(String, String?)] {
        [
            ("objects_read", "\(figures.objectsRead)"), ("objects_written", "\(figures.objectsWritten)"),
            ("bytes", "\(figures.bytesWritten)"), ("nanoseconds", "\(figures.nanoseconds)"),
        ]
    }

    private static func metadata(_ pairs: [(String, String?)]) -> Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        for (name, value) in pairs { metadata["faultline.\(name)"] = value.map { "\($0)" } }
        return metadata
    }
}
