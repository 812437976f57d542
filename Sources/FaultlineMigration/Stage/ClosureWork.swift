internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore
internal import Glibc

/// Reports the work of a custom stage's closure, whenever one of its contexts is used.
// Safe because everything but the control is touched on the migration's thread only.
final class ClosureWork: @unchecked Sendable {
    private let course: MigrationCourse
    private let control: MigrationControl?
    private unowned let session: StageSession
    private let thread = pthread_self()
    private var batchClock: BatchClock
    /// The object that the migration's record names.
    private var recorded: StageSession.SavedObject?

    init(_ course: MigrationCourse, _ options: MigrationOptions, _ session: StageSession) {
        self.course = course
        control = options.control
        self.session = session
        batchClock = BatchClock(options)
    }

    /// - Throws: `MigrationError` of code `cancelled`; the log's error if it cannot be written.
    func note() throws {
        guard pthread_equal(thread, pthread_self()) != 0 else {
            try control?.obey()
            return
        }
        let saved = session.saved
        if let last = saved.last, last != recorded, batchClock.isDue { try record(last) }
        try course.reach(saved.written.values.reduce(0, +) + saved.deleted.values.reduce(0, +))
    }

    /// Names the last saved object in the migration's record, for the error if the stage is killed again and again.
    private func record(_ last: StageSession.SavedObject) throws {
        recorded = last
        batchClock.begin()
        _ = try course.log.write(author: nil) { transaction in
            guard var record = try StoredCatalog.migration(in: transaction) else { return }
            var attempts = record.attempts ?? StageAttempts()
            attempts.entity = last.entityName
            attempts.object = last.number
            attempts.failures = 0
            record.attempts = attempts
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
        }
    }
}
