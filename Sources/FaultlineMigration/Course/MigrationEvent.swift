/// What a migration tells while it runs, for loggers and metrics; dry runs tell nothing.
///
/// A stage that begins also ends, or stops.
package enum MigrationEvent: Sendable {
    /// A stage, and how it is run.
    package struct Stage: Sendable {
        /// Its versions and its place.
        package let stage: MigrationProgress.Stage
        /// Its kind.
        package let kind: MigrationReport.Stage.Kind
        /// Whether it was begun earlier, and did not end.
        package let isResumed: Bool
    }

    /// What an opening has done of a stage.
    package struct Figures: Sendable {
        package var objectsRead = 0
        package var objectsWritten = 0
        package var bytesWritten = 0
        package var nanoseconds: UInt64 = 0
    }

    /// A migration begins, or goes on; versions are those that it leads through.
    case began(versions: [String], isResumed: Bool)
    case stageBegan(Stage)
    case stageEnded(Stage, Figures)
    /// The stage failed, or was cancelled.
    case stageStopped(Stage, Figures)
    /// The new schema is in force.
    case ended(MigrationReport)
    /// The store was not brought to the schema: refused, failed or cancelled.
    case failed(any Error)
}
