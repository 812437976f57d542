internal import FaultlineLog
internal import FaultlineStore

// The steps of a save, in their order.

extension Save {
    /// Writes the changes into a transaction, and queues it; `end` or `fail` must follow.
    ///
    /// - Parameters:
    ///   - addition: Writes in the same transaction.
    ///   - isSuspending: As `Log.queue`.
    ///   - isReady: As `Log.queue`.
    /// - Returns: The queued transaction.
    /// - Throws: `SwiftDataError.modelValidationFailure` if the objects cannot be stored together; `StoreError` or
    ///   `LogError` if the store cannot be written; errors of `addition`. The context is then unchanged.
    mutating func queue(
        adding addition: Addition?, isSuspending: Bool, isReady: Bool = false
    ) throws -> QueuedCommit {
        changedCount = context.pending.changed.count
        markDeletion()
        do {
            if findings.isEmpty { try context.history.prepare(context.store) }
            return try store.log.queue(
                author: context.history.author, isSuspending: isSuspending, isReady: isReady
            ) { transaction in
                sequence = transaction.sequence
                try write(adding: addition, in: &transaction)
            }
        } catch {
            fail()
            guard let error = error as? StoreError, [.duplicate, .missing, .tooLarge].contains(error.code) else {
                throw error
            }
            context.saving.refusal = error.code
            throw SwiftDataError.modelValidationFailure.explained(error.message)
        }
    }

    /// Shows the result of the transaction in the context.
    mutating func end(_ receipt: CommitReceipt) {
        noteSavedInStage()
        // A later save does not give it up any more.
        context.stage?.forgetReadValue()
        keepMarks()
        // Observers of the objects may change them again.
        finish(receipt, sequence)
    }

    /// Makes the context as it was before the save.
    mutating func fail() {
        context.saving.deletes = nil
        unmarkDeletion()
        replaced.restore()
        if context.pending.changed.count > changedCount { context.takeBackChanges(from: changedCount) }
    }

    private mutating func write(adding addition: Addition?, in transaction: inout Transaction) throws {
        try store.checkInForce(in: transaction)
        // Checked again, because a save may have waited for another one while the stage ended.
        try context.stage?.checkIsRunning()
        if context.conflicts != nil { try ConflictResolver(context).checkConflicts(in: transaction) }
        try context.saving.selection?.check(in: transaction)
        history = context.history.begin(context.store, in: transaction)
        try writeRows(in: &transaction)
        try history?.end(in: &transaction)
        try LeftBehind.leave(writer.keptBlobs, in: &transaction)
        blobs.byteCountWritten += writer.blobByteCount
        context.tally.add(blobs)
        if let rehearsal = context.saving.rehearsal { try endRehearsal(rehearsal) }
        try addition?(&transaction) { numbers.number(ObjectHandle($0).reference, context.pending.living) }
    }

    private mutating func writeRows(in transaction: inout Transaction) throws {
        try checkDeletions(in: transaction)
        try checkReferences(in: transaction)
        try findPassedBlobs(in: transaction)
        try writeDeletions(in: &transaction)
        // Released keys come first, so that an insert may take one over.
        try context.pending.changed.forEachKept { _, core, entity in
            guard let draft = core.pointee.draft else { return }
            if draft.changedMask & entity.indexedSlots != 0, !context.rules.sharedTables.contains(entity.table) {
                try writer.releaseKeys(of: draft, id: core.pointee.number, entity, in: &transaction)
            }
        }
        try resolveInserts(in: &transaction)
        try checkObjects(in: transaction)
        context.pending.living.forEachKept { resolve($1, $2, isLast: true) }
        context.pending.changed.forEachKept { resolve($1, $2, isLast: true) }
        guard findings.isEmpty else {
            try checkChanges(in: &transaction)
            return try refuse()
        }
        try applyOrders(in: transaction)
        try writeChanges(in: &transaction)
        try writeInserts(in: &transaction)
        try writeLinks(in: &transaction)
        if !findings.isEmpty { try refuse() }
        try writer.deleteUnclaimedBlobs(in: &transaction)
        if let history { try noteCollections(history, in: &transaction) }
    }

    /// Throws all findings; nothing of the transaction is kept.
    private func refuse() throws {
        if let refusal { context.saving.refusal = refusal }
        throw SwiftDataError.refused(findings)
    }
}
