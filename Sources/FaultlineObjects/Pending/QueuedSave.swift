internal import FaultlineLog
internal import FaultlineStore

/// A save of a context whose transaction is queued to be written.
///
/// The context reads the store, and its objects are marked, until `end`: nothing may use it before.
struct QueuedSave: ~Copyable {
    private var save: Save
    private let commit: QueuedCommit
    /// The objects whose `willSave` was called.
    private let told: [ObjectHandle]
    /// Whether this save has made the context keep errors from its handler.
    private let holdsErrors: Bool

    init(
        _ save: consuming Save, _ commit: QueuedCommit, _ told: [ObjectHandle], holdsErrors: Bool
    ) {
        self.save = save
        self.commit = commit
        self.told = told
        self.holdsErrors = holdsErrors
    }

    /// The number of the transaction.
    var sequence: UInt64 { save.sequence }

    /// Tells when the transaction is done, for a task that is suspended; nil if `end` waits.
    var wait: CommitWait? { commit.wait }

    /// Waits until the transaction is done, and shows its result in the context.
    ///
    /// - Throws: The errors of the disk; the changes are then unsaved as before.
    consuming func end() throws {
        let context = save.context
        context.saving.isQueued = false
        do {
            save.end(try context.store.log.end(commit))
        } catch {
            save.fail()
            context.endReading()
            if holdsErrors { context.tellHeldErrors() }
            throw error
        }
        context.endReading()
        if let link = context.link {
            do { try link.finishSave() } catch { context.report(error) }
        }
        if holdsErrors { context.tellHeldErrors() }
        // Changes in `didSave` are for the next save.
        for handle in told where handle.core.pointee.has(.attached) { handle.lifecycle?.didSave(handle.object) }
    }
}
