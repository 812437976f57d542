internal import FaultlineStore

/// What the workers of a streamed stage have in common: how far the stage is, and what it has done.
// Safe because only the worker whose turn it is touches it, and turns are handed on under a lock.
final class StreamedProgress: @unchecked Sendable {
    /// As it was last saved.
    var record: MigrationRecord
    let course: MigrationCourse

    init(_ record: MigrationRecord, _ course: MigrationCourse) {
        self.record = record
        self.course = course
    }
}
