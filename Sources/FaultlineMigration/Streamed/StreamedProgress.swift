internal import FaultlineStore

/// The shared state of a streamed stage's workers: its progress, and its counts.
// Safe because only the worker whose turn it is touches it, and turns are handed on under a lock.
final class StreamedProgress: @unchecked Sendable {
    /// The record as it was last saved.
    var record: MigrationRecord
    let course: MigrationCourse

    init(_ record: MigrationRecord, _ course: MigrationCourse) {
        self.record = record
        self.course = course
    }
}
