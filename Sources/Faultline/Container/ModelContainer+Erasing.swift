internal import Dispatch
internal import FaultlineLog
internal import FaultlineObjects
internal import Foundation

extension ModelContainer {
    /// Deletes all objects of the store: the container, its contexts and the store stay usable.
    ///
    ///     try container.erase()
    ///
    /// Delete rules do not apply, and code of model classes is not called. The history names each deleted object, and the
    /// schema stays. Unsaved changes of the main context are dropped: at once on the main actor, else when the main
    /// queue runs. Other contexts and containers see the deletion at their next fetch; a save of an object that they have
    /// changed is refused, as for any object that was deleted elsewhere.
    ///
    /// A `DataStore` erases its objects itself.
    ///
    /// Space is freed as by other deletions: `compact()` frees it at once.
    ///
    /// Durability: as a save. One transaction: after an interruption all objects are there, or none.
    /// - Throws: `StorageError` if the store cannot be written: of the code `readOnly` for a container that may not.
    ///   `SwiftDataError.modelValidationFailure` in a stage of a migration.
    /// - Complexity: O(n) for n objects and for the numbers of objects that were deleted before.
    public func erase() throws {
        if let parts {
            try StorageError.translating { for container in parts.containers { try container.requireWritable() } }
            for container in parts.containers { try container.erase() }
            return dropMainChanges()
        }
        try StorageError.translating {
            try requireWritable()
            guard !isOfStage else {
                throw SwiftDataError.modelValidationFailure.explained(
                    "A stage of a migration cannot erase the store. Delete the objects of its context.")
            }
            if let localCopy { return try localCopy.erase() }
            try StoreEraser(makeCore()).eraseAll()
        }
        dropMainChanges()
    }

    /// Deletes all objects of the store; `erase()` is the call that throws.
    ///
    ///     container.deleteAllData()
    ///
    /// SwiftData's older name. An error goes to the `errorHandler` of the main context, and the next save of that context
    /// throws it.
    ///
    /// - Complexity: That of `erase()`.
    public func deleteAllData() {
        do { try erase() } catch {
            onMain { $0.mainContext.core.refuseNextSave(error) }
        }
    }

    private func dropMainChanges() { if hasMainContext { onMain { $0.mainContext.rollback() } } }

    private func onMain(_ body: @escaping @MainActor @Sendable (ModelContainer) -> Void) {
        if MainQueue.isCurrent { return MainActor.assumeIsolated { body(self) } }
        DispatchQueue.main.async { MainActor.assumeIsolated { body(self) } }
    }
}

/// The queue of the main actor: once it is served, the system may run it on any thread.
private enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isCurrent: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: key) == true }
}
