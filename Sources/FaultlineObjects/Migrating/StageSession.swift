internal import FaultlineDisk
package import FaultlineLog
internal import FaultlineStore
internal import Synchronization

/// The shared state of the contexts of one closure of a custom migration stage, or of one streamed or mapped stage.
///
/// It has the blobs that they must not delete, the first error that one of them met, the objects they have saved, and
/// whether the closure is still running.
///
/// Thread-safe: a closure may use contexts on other threads.
package final class StageSession: Sendable {
    /// Blobs below belong to the state before the stage, which is in force until the migration has switched.
    let firstOwnBlob: UInt64
    private let state = Guarded(State())
    /// The reads of the contexts.
    package let tallies: ReadTallies

    private struct State {
        var isOver = false
        var error: (any Error)?
        var saved = Counts()
        var onUse: (@Sendable () throws -> Void)?
    }

    /// The counts of saved objects.
    package struct Counts: Sendable, Equatable {
        /// Objects that were added or changed, by entity.
        package var written: [String: Int] = [:]
        /// Objects that were deleted, by entity.
        package var deleted: [String: Int] = [:]
        /// Large values that were released, and that the state before the stage still has.
        package var blobsLeftBehind = 0
        /// The last object that was added or changed; nil if there is none.
        package var last: SavedObject?
    }

    /// An object that was saved.
    package struct SavedObject: Sendable, Equatable {
        package let entityName: String
        package let number: RecordID
    }

    /// Whether the migration is a dry run.
    let isDryRun: Bool

    /// Bytes of values of 4 KiB or more that the unsaved objects of a context may hold.
    let heldByteCountMax: Int

    package init(
        firstOwnBlob: UInt64, isDryRun: Bool, tallies: ReadTallies = ReadTallies(), heldByteCountMax: Int = .max
    ) {
        self.tallies = tallies
        self.heldByteCountMax = heldByteCountMax
        self.firstOwnBlob = firstOwnBlob
        self.isDryRun = isDryRun
    }

    /// The first error that a context met, also if the closure did not rethrow it.
    package var error: (any Error)? { state.withLock { $0.error } }

    /// Returns and clears the first error that a context met.
    package func takeError() -> (any Error)? {
        state.withLock { state in
            defer { state.error = nil }
            return state.error
        }
    }

    /// The cause of a stage's failure: if the store could not be read, that error, and not a consequence of the
    /// placeholders.
    package func cause(of error: any Error) -> any Error {
        let error = StorageError.translating(error)
        guard !(error is StorageError), let met = self.error as? StorageError else { return error }
        return met
    }

    /// The saves of all contexts.
    package var saved: Counts { state.withLock { $0.saved } }

    /// Ends the closure: its contexts can save no more.
    package func end() {
        forgetReadValue()
        state.withLock { $0.isOver = true }
    }

    deinit { forgetReadValue() }

    /// Lets go of the large value that its contexts have read last.
    package func forgetReadValue() { ReadValues.forget(ObjectIdentifier(self)) }

    /// Called before a context of the stage fetches or saves; its errors are thrown there.
    package var onUse: (@Sendable () throws -> Void)? {
        get { state.withLock { $0.onUse } }
        set { state.withLock { $0.onUse = newValue } }
    }

    // MARK: Calls of the contexts

    func checkIsRunning() throws(StoreError) {
        guard state.withLock({ $0.isOver }) else { return }
        throw StoreError(
            .outdated,
            "This context belonged to a stage of a migration that is over: it can be read, and not saved. Use a context of the container that was opened."
        )
    }

    func note(_ error: any Error) { state.withLock { if $0.error == nil { $0.error = error } } }

    func noteSaved(_ counts: Counts) {
        state.withLock {
            $0.saved.written.merge(counts.written, uniquingKeysWith: +)
            $0.saved.deleted.merge(counts.deleted, uniquingKeysWith: +)
            $0.saved.blobsLeftBehind += counts.blobsLeftBehind
            if let last = counts.last { $0.saved.last = last }
        }
    }
}
