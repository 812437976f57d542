internal import FaultlineDisk
package import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

extension ContextCore {
    /// Writes all unsaved changes in one transaction: all of them, or none.
    ///
    /// - Parameter addition: Written in the same transaction, where it may ask which number an object gets; then there
    ///   is a transaction even where nothing has changed.
    /// - Throws: `SwiftDataError.modelValidationFailure` if objects break a rule; `StoreError` or `LogError` if the
    ///   store cannot be written; what `addition` throws; an error that a setter met and could not throw.
    package func save(
        adding addition: ((inout Transaction, _ number: (ManagedObject) -> RecordID) throws -> Void)? = nil
    ) throws {
        try checkIsNotSaving()
        try checkIsOutsideOfBatch()
        if let error = takePendingError() { throw error }
        guard hasChanges || addition != nil else {
            noteSaved()
            return
        }
        if !initializing.unawakened.isEmpty { awakeArrived() }
        try stage?.checkIsRunning()
        try checkSavesByItself(addition != nil)
        guard !isReadOnly else {
            throw SwiftDataError.modelValidationFailure.explained(
                "The container was made with allowsSave: false. Make another one to save.")
        }
        if let pinLabel {
            throw LogError(
                .readOnly, "The context is pinned (\(pinLabel)), so nothing can be saved in it. Unpin it first.")
        }
        let told = try hasLifecycles ? tellWillSave() : []
        // Whoever was told may have taken everything back.
        guard hasChanges || addition != nil else { return noteSaved() }
        var written: [ObjectHandle] = []
        try dealingWithConflicts {
            written = told.filter(isUnsaved)
            try commit(adding: addition)
        }
        // What they change is for the next save.
        for handle in written where handle.core.pointee.has(.attached) { handle.lifecycle?.didSave(handle.object) }
    }

    /// Writes what is unsaved.
    private func commit(adding addition: Save.Addition?) throws {
        try beginReading()
        defer { endReading() }
        // Deletions follow the newest state, not the one that the context saw when it began to change things.
        if stage == nil, hasDeletions { moveToNewest() }
        let deletion = try walkDeletions(in: snapshot)
        var findings = FindingList()
        if hasLifecycles { addFindingsOfClasses(deletion, to: &findings) }
        // A call that a validation must not make.
        if let error = takePendingError(), findings.isEmpty { throw error }
        try takeUniqueBlobs()
        var save = Save(self, deletion, findings)
        try save.run(adding: addition)
    }

    /// Undoes all unsaved changes.
    func rollback() {
        guard mayRearrange("rollback") else { return }
        guard !isSavedByStage else {
            return refuseSave(
                SwiftDataError.modelValidationFailure.explained(
                    "The context of a mapped stage cannot be rolled back: it holds what other calls have made. Delete what is not wanted."
                ))
        }
        dropUnsaved()
    }

    /// Undoes all unsaved changes, also where the stage alone saves.
    package func dropUnsaved() {
        pendingError = nil
        let noteChanges = changesOfRollback()
        inserted.forEach(sendAway)
        changed.forEach(showStored)
        for handle in deleted { handle.core.pointee.remove(.deleted) }
        forgetChanges()
        chosenNumbers.removeAll()
        noteChanges()
    }

    /// Lets go of objects that a failed save has changed, to give them other places in their collections.
    func takeBackChanges(from first: Int) {
        changed[first...].forEach(showStored)
        changed.removeSubrange(first...)
    }

    /// Turns a changed object into one that shows what is stored.
    func showStored(_ handle: ObjectHandle) {
        handle.core.pointee.dropDraft()
        handle.core.pointee.row = .none
        handle.core.pointee.remove(.changed)
    }

    func forgetChanges() {
        inserted.removeAll()
        changed.removeAll()
        deleted.removeAll()
        initializing = InitializingObjects()
        hasDeletedInserts = false
        doomedNumbers = nil
        relationships.removeAll()
        memberArrays.removeAll()
        policies.ofInserts.removeAll()
        countedInserted = 0
        countedBytes = 0
        conflicts?.forgetAll()
        noteSaved()
    }

    private func takeUniqueBlobs() throws {
        func take(_ handle: ObjectHandle) throws {
            guard handle.core.pointee.hasExtra, let entity = handle.core.pointee.home.takeUnretainedValue().entity
            else { return }
            try takeUniqueBlobs(handle, entity)
        }
        try inserted.forEach(take)
        try changed.forEach(take)
    }

    /// Reads values that an object was given by reference where they are unique: an index key is made of what lies in
    /// the row.
    func takeUniqueBlobs(_ handle: ObjectHandle, _ entity: EntityStorage) throws {
        guard let extra = handle.core.pointee.extraIfPresent, let draft = handle.core.pointee.draft else { return }
        for slot in extra.adoptedBlobs.keys.sorted() where entity.uniqueSlots.contains(slot) {
            if let reference = draft.blobReference(slot), reference.identifier == extra.adoptedBlobs[slot] {
                let bytes = try blobBytes(reference, store.log.snapshot())
                handle.core.pointee.write { draft in bytes.withUnsafeBytes { draft.setBytes(slot, $0) } }
            }
            extra.adoptedBlobs[slot] = nil
        }
    }
}
