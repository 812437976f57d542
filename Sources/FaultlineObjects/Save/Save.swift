internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// One save of a context: writes its unsaved changes into one transaction, and shows the result in the context.
///
/// Rules are checked in the writer's turn, on the newest state of the store; one error has all findings. Order within
/// the transaction: rules of deletions and references, deletes, keys that updates release, numbers of inserts, rules of
/// the objects, updates, inserts, links. An insert whose unique values a stored object has becomes an update of that
/// object, unless its policy says otherwise.
///
/// Used between `beginReading` and `endReading` of its context. Drafts that it alters are restored if it fails.
struct Save: ~Copyable {
    /// Writes in the same transaction; may ask for an object's number.
    typealias Addition = (inout Transaction, _ number: (ManagedObject) -> RecordID) throws -> Void

    let context: ContextCore
    /// The objects to delete; nil for none.
    private(set) var deletion: DeletionWalk?
    /// Removes the marks of the objects to delete.
    private var unmark: (() -> Void)?
    /// Collections that lose members to the deletion, and have a minimum or maximum number of them.
    var countedOwners: [(owner: DeletionWalk.Subject, slot: Int)] = []
    /// The rules that the objects break.
    var findings: FindingList
    /// Why the store did not accept one of the objects.
    var refusal: StoreError.Code?
    var writer: RowWriter
    /// Collects the changes for the store's history; nil outside of the transaction, and if there is no history.
    var history: HistoryWriter?
    /// Numbers of the inserted objects.
    var numbers = SavedNumbers()
    /// Values of drafts that the save has replaced.
    var replaced = ReplacedValues()
    /// Positions of objects that replace a stored one.
    var upserts: Set<Int> = []
    /// The last inserted object that entered keys for a number, if an entity has several uniqueness constraints.
    var keyHolders: [KeyOwner: KeyHolder] = [:]
    /// Inserted objects that others keep from being saved as they are.
    var losing = LosingInserts()
    /// Changed objects that are gone, and that the policy lets the save do without.
    var gonePartners: Set<UnsafeMutablePointer<ModelCore>> = []
    /// References of stored objects that delete rules have cleared.
    var cleared = ClearedReferences()
    /// Changed objects before the save; later ones got other positions in their collections by it.
    private var changedCount = 0
    /// The number of the save's transaction, if it has written anything.
    private var sequence: UInt64 = 0

    init(_ context: ContextCore, _ deletion: DeletionWalk?, _ findings: FindingList) {
        self.context = context
        self.deletion = deletion
        self.findings = findings
        writer = RowWriter(context.store, keepingBlobsBelow: context.stage?.firstOwnBlob ?? 0)
    }

    var store: RowStore { context.store }

    // MARK: Running

    /// Writes the changes into a transaction, and queues it; `end` or `fail` must follow.
    ///
    /// - Parameters:
    ///   - addition: Writes in the same transaction.
    ///   - isSuspending: As `Log.queue`.
    /// - Returns: The queued transaction.
    /// - Throws: `SwiftDataError.modelValidationFailure` if the objects cannot be stored together; `StoreError` or
    ///   `LogError` if the store cannot be written; errors of `addition`. The context is then unchanged.
    mutating func queue(adding addition: Addition?, isSuspending: Bool) throws -> QueuedCommit {
        changedCount = context.pending.changed.count
        unmark = deletion.map { $0.mark() }
        do {
            if findings.isEmpty { try context.history.prepare(context.store) }
            return try store.log.queue(author: context.history.author, isSuspending: isSuspending) { transaction in
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
        unmark = nil
        // Observers of the objects may change them again.
        finish(receipt, sequence)
    }

    /// Makes the context as it was before the save.
    mutating func fail() {
        context.saving.deletes = nil
        unmark?()
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
        try addition?(&transaction) { numbers.number(ObjectHandle($0).reference, context.pending.inserted) }
    }

    // MARK: Writing

    private mutating func writeRows(in transaction: inout Transaction) throws {
        try checkDeletions(in: transaction)
        try checkReferences(in: transaction)
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
        context.pending.inserted.forEachKept { resolve($1, $2, isLast: true) }
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
        if let history { try noteCollections(history, in: &transaction) }
    }

    /// Throws all findings; nothing of the transaction is kept.
    private func refuse() throws {
        if let refusal { context.saving.refusal = refusal }
        throw SwiftDataError.refused(findings)
    }

    /// Sets the walk of this save, and marks its objects.
    mutating func take(_ walk: DeletionWalk?) {
        unmark?()
        deletion = walk
        context.saving.deletes = nil
        unmark = walk.map { $0.mark() }
    }

    private mutating func writeChanges(in transaction: inout Transaction) throws {
        try context.pending.changed.forEachKept { _, core, entity in
            guard let draft = core.pointee.draft else { return }
            let number = core.pointee.number
            if !context.rules.sharedTables.isEmpty, context.rules.sharedTables.contains(entity.table) {
                return try checkIsAsStored(draft, number, entity)
            }
            var own = draft
            defer { if own.block != draft.block { own.destroy() } }
            if core.pointee.hasExtra, let adopted = core.pointee.extraIfPresent?.adoptedBlobs, !adopted.isEmpty {
                own = draft.copy()
                try adoptBlobs(adopted, &own, number, entity, in: &transaction)
            }
            do throws(StoreError) {
                try writer.update(
                    own, id: number, base: core.pointee.base, hasEnteredKeys: hasKeys(number, entity), entity,
                    in: &transaction)
            } catch {
                return try note(error, core, entity)
            }
            try history?.noteUpdate(number, mask: draft.changedMask, entity, in: &transaction)
        }
    }

    /// Checks that an object in a table of the old state has its stored values: setting a relationship may touch it
    /// without changing it.
    private func checkIsAsStored(_ draft: Draft, _ number: RecordID, _ entity: EntityStorage) throws {
        var buffer = RecordBuffer()
        guard let record = try context.snapshot.read(number, in: entity.table, into: &buffer) else { return }
        let view = try context.store.view(record, of: entity)
        for (slot, storage) in entity.slots.enumerated() where draft.isChanged(slot) {
            let isSame: Bool
            switch storage {
            case .attribute: isSame = RowKeys.isEqual(draft, view, slot, entity.layout)
            case .toOne: isSame = draft.toOne(slot) == view.toOne(slot)
            case .toMany: isSame = true
            }
            if !isSame { try context.rules.checkUnshared(entity.table, "an object of \(entity.name)", "changed") }
        }
    }

    private mutating func writeInserts(in transaction: inout Transaction) throws {
        let history = history
        try context.pending.inserted.forEachKept { position, core, entity in
            let number = numbers[position]
            guard number != 0, let draft = core.pointee.draft else { return }
            var own = draft
            defer { if own.block != draft.block { own.destroy() } }
            if core.pointee.hasExtra, let adopted = core.pointee.extraIfPresent?.adoptedBlobs, !adopted.isEmpty {
                own = draft.copy()
                try adoptBlobs(adopted, &own, number, entity, in: &transaction)
            }
            if !upserts.isEmpty, upserts.contains(position) {
                let marked = own.withUpsertMarks(entity)
                do throws(StoreError) {
                    try writer.update(marked, id: number, base: 0, hasEnteredKeys: true, entity, in: &transaction)
                } catch {
                    return try note(error, core, entity)
                }
                try history?.noteUpdate(number, mask: marked.changedMask, entity, in: &transaction)
            } else {
                do throws(StoreError) {
                    try writer.insert(own, id: number, entity, in: &transaction)
                } catch {
                    return try note(error, core, entity)
                }
                if let history { try history.noteInsert(number, entity, in: &transaction) }
            }
        }
    }

    /// Copies or moves values that were given by reference: a blob has one owner.
    private func adoptBlobs(
        _ adopted: [Int: UInt64], _ draft: inout Draft, _ number: RecordID, _ entity: EntityStorage,
        in transaction: inout Transaction
    ) throws {
        for (slot, identifier) in adopted.sorted(by: { $0.key < $1.key }) {
            // The slot may have been set to another value since.
            guard let reference = draft.blobReference(slot), reference.identifier == identifier else { continue }
            if let mayMoveBlob = context.rules.mayMoveBlob, mayMoveBlob(identifier) { continue }
            let owner = BlobOwner(table: entity.table, slot: UInt16(truncatingIfNeeded: slot), id: number)
            let copy = try transaction.copyBlob(identifier, owner: owner)
            draft.setBlobReference(slot, identifier: copy, byteCount: reference.byteCount)
        }
    }

    // MARK: Numbers

    /// The number that an object has once it is saved; 0 if it is not saved, or not known yet.
    mutating func number(_ reference: ObjectReference) -> RecordID {
        numbers.number(reference, context.pending.inserted)
    }

    /// Replaces temporary numbers in a draft by the final ones.
    ///
    /// - Returns: False if one of them is not known yet; it stays.
    @discardableResult
    mutating func resolve(
        _ core: UnsafeMutablePointer<ModelCore>, _ entity: EntityStorage, isLast: Bool
    ) -> Bool {
        guard let draft = core.pointee.draft else { return true }
        var isDone = true
        for slot in entity.toOneSlots {
            let reference = ObjectReference(bits: draft.toOne(slot))
            guard reference.isTemporary else { continue }
            let final = number(reference)
            if final == 0, !isLast {
                isDone = false
                continue
            }
            replaced.noteTarget(core, slot, reference.bits)
            draft.setToOne(slot, final)
        }
        return isDone
    }
}
