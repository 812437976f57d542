internal import FaultlineDisk
package import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

extension ContextCore {
    /// Writes all unsaved changes in one transaction: all of them, or none.
    ///
    /// - Parameter addition: Writes in the same transaction, and may ask for an object's number; with it there is a
    ///   transaction even if nothing has changed.
    /// - Throws: `SwiftDataError.modelValidationFailure` if objects break a rule; `StoreError` or `LogError` if the
    ///   store cannot be written; errors of `addition`; an error of a setter that could not throw.
    package func save(
        adding addition: ((inout Transaction, _ number: (ManagedObject) -> RecordID) throws -> Void)? = nil
    ) throws {
        guard let queued = try queueSave(adding: addition, isSuspending: false) else { return }
        try queued.end()
    }

    /// Makes the records of a save, and queues them to be written; `QueuedSave.end` must follow, and nothing may use the
    /// context in between.
    ///
    /// - Parameters:
    ///   - addition: As `save`.
    ///   - isSuspending: As `Log.queue`.
    /// - Returns: The save; nil if there is nothing to write.
    /// - Throws: As `save`, except for errors of the disk that `QueuedSave.end` throws.
    func queueSave(adding addition: Save.Addition? = nil, isSuspending: Bool) throws -> QueuedSave? {
        guard try checkSave(isAdding: addition != nil) else { return nil }
        let told = try homes.haveLifecycles ? LifecycleCalls(self).tellWillSave() : []
        // A `willSave` method may have undone all changes.
        guard hasChanges || addition != nil else {
            noteSaved()
            return nil
        }
        undo?.endEvent()
        let holdsErrors = errors.hold()
        do {
            let queued = try ConflictResolver(self).dealingWithConflicts {
                let told = told.filter(LifecycleCalls(self).isUnsaved)
                guard let link else {
                    return try queueCommit(adding: addition, isSuspending, of: told, holdsErrors: holdsErrors)
                }
                return try link.save {
                    try queueCommit(adding: addition, isSuspending, of: told, holdsErrors: holdsErrors)
                }
            }
            if let queued { return queued }
        } catch {
            if holdsErrors { tellHeldErrors() }
            throw error
        }
        if holdsErrors { tellHeldErrors() }
        return nil
    }

    /// Whether there is something to save.
    ///
    /// - Parameter isAdding: Whether there is a transaction even if nothing has changed.
    /// - Returns: False if there is nothing.
    /// - Throws: As `save`, if the context may not save now.
    func checkSave(isAdding: Bool = false) throws -> Bool {
        try LifecycleCalls(self).checkIsNotSaving()
        try checkIsOutsideOfBatch()
        tellLateErrors()
        if let error = errors.refusals.next() { throw error }
        guard hasChanges || isAdding else {
            noteSaved()
            return false
        }
        if !pending.unawakened.isEmpty { ObjectInsertion(self).awakeArrived() }
        try stage?.checkIsRunning()
        try rules.checkSavesByItself(isAdding)
        guard !rules.isReadOnly else {
            throw SwiftDataError.modelValidationFailure.explained(
                "The container was made with allowsSave: false. Make another one to save.")
        }
        if let pinLabel = state.pinLabel {
            throw LogError(
                .readOnly, "The context is pinned (\(pinLabel)), so nothing can be saved in it. Unpin it first.")
        }
        return true
    }

    /// Queues the unsaved changes; the context reads the store until the save's end.
    func queueCommit(
        adding addition: Save.Addition?, _ isSuspending: Bool, of told: [ObjectHandle], holdsErrors: Bool
    ) throws -> QueuedSave {
        var save = try prepareCommit()
        do {
            let commit = try save.queue(adding: addition, isSuspending: isSuspending)
            saving.isQueued = true
            return QueuedSave(save, commit, told, holdsErrors: holdsErrors)
        } catch {
            endReading()
            throw error
        }
    }

    /// Does all of a save that needs no writer's turn; the context reads the store from then on.
    func prepareCommit() throws -> Save {
        try beginReading()
        do {
            // Deletions follow the newest state, not the state that the context had when its changes began.
            if stage == nil, pending.hasDeletions { try moveToNewest() }
            bringBackForSave()
            let deletion = try DeletionWalk.ofNextSave(self, in: snapshot)
            var findings = FindingList()
            if homes.haveLifecycles { LifecycleCalls(self).addFindingsOfClasses(deletion, to: &findings) }
            // An error of a call that a validation must not make.
            if let error = errors.refusals.next(), findings.isEmpty { throw error }
            try takeUniqueBlobs()
            return Save(self, deletion, findings)
        } catch {
            endReading()
            throw error
        }
    }

    private func takeUniqueBlobs() throws {
        func take(_ handle: ObjectHandle) throws {
            guard handle.core.pointee.hasExtra, let entity = handle.core.pointee.home.takeUnretainedValue().entity
            else { return }
            try takeUniqueBlobs(handle, entity)
        }
        try pending.living.forEach(take)
        try pending.changed.forEach(take)
    }

    /// Reads values that an object was given by reference if they are unique: an index key is made of the bytes in the
    /// row.
    func takeUniqueBlobs(_ handle: ObjectHandle, _ entity: EntityStorage) throws {
        guard let extra = handle.core.pointee.extraIfPresent, let draft = handle.core.pointee.draft else { return }
        try extra.givenValues.forEach { slot, value in
            guard entity.uniqueSlots.contains(slot) else { return }
            if let reference = draft.blobReference(slot), reference.identifier == value.number {
                let bytes = try RowCache(self).blobBytes(reference, store.log.snapshot())
                handle.core.pointee.write { draft in bytes.withUnsafeBytes { draft.setBytes(slot, $0) } }
            }
            extra.givenValues[slot] = nil
        }
    }

    /// Refuses to write inside the closure of a batch insertion, which holds the writer's turn: the write would wait
    /// for itself.
    func checkIsOutsideOfBatch() throws {
        guard store.isBatching else { return }
        throw SwiftDataError.modelValidationFailure.explained(
            "A save was called while a batch insertion of the same store asks for its rows. Save before it, or after.")
    }
}
