/// An event of a running migration, for loggers and metrics; dry runs have no events.
///
/// A stage that begins also ends, or stops.
package enum MigrationEvent: Sendable {
    /// A stage, and how it is run.
    package struct Stage: Sendable {
        /// Its versions and its place.
        package let stage: MigrationProgress.Stage
        /// Its kind.
        package let kind: MigrationReport.Stage.Kind
        /// Whether it was begun by an earlier opening, and did not end.
        package let isResumed: Bool
    }

    /// The work of an opening in a stage.
    package struct Figures: Sendable {
        package var objectsRead = 0
        package var objectsWritten = 0
        package var bytesWritten = 0
        package var nanoseconds: UInt64 = 0
    }

    /// A migration begins, or continues; with the versions on its way.
    case began(versions: [String], isResumed: Bool)
    case stageBegan(Stage)
    case stageEnded(Stage, Figures)
    /// The stage failed, or was cancelled.
    case stageStopped(Stage, Figures)
    /// The new schema is in force.
    case ended(MigrationReport)
    /// The store was not brought to the schema: refused, failed or cancelled; with the work up to there.
    case failed(any Error, MigrationReport)
}
