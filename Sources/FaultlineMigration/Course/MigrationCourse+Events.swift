internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore

// Events for the observers of stages.

extension MigrationCourse {
    /// The current stage, and the counts when it began.
    struct StageBeginning {
        let event: MigrationEvent.Stage
        let counts: MigrationCounts
        let byteCount: UInt64
        let nanoseconds: UInt64
    }

    /// Reports the beginning of a stage.
    func tellBeginning(of stage: Int, isResumed: Bool) {
        guard let observe, findings == nil else { return }
        let begun = counts.stages[stage]
        let event = MigrationEvent.Stage(
            stage: MigrationProgress.Stage(
                from: begun.from, to: begun.to, place: begun.place + 1, count: stageCount,
                isRestarted: begun.place == restartedStage),
            kind: MigrationReport.Stage.Kind(rawValue: begun.kind) ?? .lightweight, isResumed: isResumed)
        stageBeginning = StageBeginning(
            event: event, counts: counts, byteCount: log.writtenByteCount,
            nanoseconds: options.clock.monotonicNanoseconds())
        observe(.stageBegan(event))
    }

    /// Reports that the current stage, if there is one, has ended, or was stopped.
    func tellEnd(isStopped: Bool = false) {
        guard let observe, let begun = stageBeginning else { return }
        stageBeginning = nil
        let now = options.clock.monotonicNanoseconds()
        let figures = MigrationEvent.Figures(
            // Undone work may have been counted before.
            objectsRead: max(0, counts.objectsRead - begun.counts.objectsRead),
            objectsWritten: max(0, counts.objectsWritten - begun.counts.objectsWritten),
            bytesWritten: Int(clamping: log.writtenByteCount &- begun.byteCount),
            nanoseconds: now > begun.nanoseconds ? now - begun.nanoseconds : 0)
        observe(isStopped ? .stageStopped(begun.event, figures) : .stageEnded(begun.event, figures))
    }

    private var observe: (@Sendable (MigrationEvent) -> Void)? { options.observe }
}
