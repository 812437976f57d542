internal import FaultlineDisk
package import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

extension ContextCore {
    /// Writes all unsaved changes in one transaction: all of them, or none.
    ///
    /// Order within the transaction: deletes, keys that updates give up, updates, links, inserts. An insert whose
    /// unique values a stored object has becomes an update of that object.
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
        for handle in written { handle.lifecycle?.didSave(handle.object) }
    }

    /// Writes what is unsaved.
    private func commit(
        adding addition: ((inout Transaction, (ManagedObject) -> RecordID) throws -> Void)?
    ) throws {
        try beginReading()
        defer { endReading() }
        // What a deletion takes along is what there is now, not what the context saw when it began to change things.
        if stage == nil, hasDeletions { moveToNewest() }
        let deletion = try walkDeletions()
        do { try validate(deletion) } catch {
            // What a validation has called and must not is among the findings.
            pendingError = nil
            throw error
        }
        if let error = takePendingError() { throw error }
        try takeUniqueBlobs()

        var saving = SavingState()
        let changedCount = changed.count
        var unmark = deletion.map(markDoomed)
        var isWritten = false
        defer {
            self.deletion = nil
            unmark?()
            saving.restoreDrafts()
            if !isWritten, changed.count > changedCount { takeBackChanges(from: changedCount) }
        }
        let receipt: CommitReceipt
        var sequence: UInt64 = 0
        try prepareHistory()
        var saved = StageSession.Counts()
        do {
            receipt = try store.log.write(author: author) { transaction in
                try store.checkInForce(in: transaction)
                sequence = transaction.sequence
                // Again, because a save may have waited for others while the stage ended.
                try stage?.checkIsRunning()
                if conflicts != nil { try checkConflicts(in: transaction) }
                try selection?.check(in: transaction)
                beginHistory(in: transaction)
                defer { history = nil }
                let keptBlobs = try write(&saving, in: &transaction)
                try history?.end(in: &transaction)
                try LeftBehind.leave(keptBlobs, in: &transaction)
                saved.blobsLeftBehind = keptBlobs.count
                try addition?(&transaction) { saving.number(ObjectHandle($0).reference, inserted) }
            }.receipt
        } catch let error as StoreError where [.duplicate, .missing, .tooLarge].contains(error.code) {
            refusal = error.code
            if error.code == .missing, let findings = try findingsOfDeleted() { throw SwiftDataError.refused(findings) }
            throw SwiftDataError.modelValidationFailure.explained(error.message)
        }
        if let stage {
            let added = zip(inserted, saving.numbers).filter { $0.1 != 0 }.map(\.0)
            saved.written = Self.counts(of: added + changed.filter { !$0.core.pointee.has(.deleted) })
            for (ordinal, count) in saving.clearedCounts {
                saved.written[homes[ordinal].entityName, default: 0] += count
            }
            saved.deleted = deletion.map(deletedCounts) ?? [:]
            stage.noteSaved(saved)
        }
        unmark = nil
        // Whoever observes what becomes of the objects may change them again.
        isWritten = true
        finish(&saving, receipt, sequence)
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
    private func takeBackChanges(from first: Int) {
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
        hasDeletedInserts = false
        doomedNumbers = nil
        relationships.removeAll()
        memberArrays.removeAll()
        countedInserted = 0
        countedBytes = 0
        conflicts?.forgetAll()
        noteSaved()
    }

    // MARK: Checks

    /// Checks that objects satisfy the rules of their entities once the save has deleted what goes.
    private func validate(_ deletion: DeletionWalk?) throws {
        var findings = FindingList()
        inserted.forEachKept { check($1, $2, deletion, &findings) }
        changed.forEachKept { check($1, $2, deletion, &findings) }
        if let deletion { findings.add(try deletion.findings(isMigrating: defersRelationshipRules)) }
        if !defersRelationshipRules, store.storage.hasBounds {
            findings.add(try miscountedCollections(deletion ?? DeletionWalk(self)))
        }
        if hasLifecycles { addFindingsOfClasses(deletion, to: &findings) }
        guard findings.isEmpty else { throw SwiftDataError.refused(findings) }
    }

    private func check(
        _ core: UnsafeMutablePointer<ModelCore>, _ entity: EntityStorage, _ deletion: DeletionWalk?,
        _ findings: inout FindingList
    ) {
        if let deletion, deletion.isDoomed(core.pointee.reference, entity.ordinal) { return }
        if core.pointee.has(.damaged) {
            findings.add(
                ValidationFinding(
                    identifier(of: core.pointee.reference, entity), nil, .damaged,
                    "\(entity.name) \(core.pointee.number): it was read with stand-in values"))
        }
        for missing in core.pointee.missingValues {
            findings.add(
                ValidationFinding(
                    identifier(of: core.pointee.reference, entity), missing.name, .required, missing.text))
        }
        guard !defersRelationshipRules, !entity.requiredSlots.isEmpty, let draft = core.pointee.draft else { return }
        for slot in entity.requiredSlots {
            guard case .toOne(let relationship) = entity.slots[slot] else { continue }
            let target = ObjectReference(bits: draft.toOne(slot))
            // An unsaved object that was deleted gets no number.
            guard target.isNil || target.isTemporary && deletion?.isDoomed(target, relationship.destination) == true
            else { continue }
            findings.add(missingObject(core.pointee.reference, entity, slot))
        }
    }

    // MARK: Writing

    /// - Returns: Blobs that objects gave up, and that a migration has to keep until it has switched.
    private func write(_ saving: inout SavingState, in transaction: inout Transaction) throws -> [UInt64] {
        var writer = RowWriter(store, keepingBlobsBelow: stage?.firstOwnBlob ?? 0)
        if let deletion { try writeDeletions(deletion, &saving, &writer, &transaction) }
        // Keys that updates give up come first, so that an insert may take one over.
        try changed.forEachKept { _, core, entity in
            guard let draft = core.pointee.draft else { return }
            if draft.changedMask & entity.indexedSlots != 0, !sharedTables.contains(entity.table) {
                try writer.releaseKeys(of: draft, id: core.pointee.number, entity, in: &transaction)
            }
        }
        try resolveInserts(&saving, &writer, &transaction)
        if !defersRelationshipRules { try checkMergedCounts(saving, in: transaction) }
        inserted.forEachKept { saving.resolve($1, $2, inserted, isLast: true) }
        changed.forEachKept { saving.resolve($1, $2, inserted, isLast: true) }
        try applyOrders(&saving, in: transaction)
        try writeChanges(&saving, &writer, &transaction)
        try writeInserts(&saving, &writer, &transaction)
        try writeLinks(&saving, &writer, &transaction)
        if let history { try noteCollections(history, &saving, &transaction) }
        return writer.keptBlobs
    }

    private func writeChanges(
        _ saving: inout SavingState, _ writer: inout RowWriter, _ transaction: inout Transaction
    ) throws {
        try changed.forEachKept { _, core, entity in
            guard let draft = core.pointee.draft else { return }
            let number = core.pointee.number
            if !sharedTables.isEmpty, sharedTables.contains(entity.table) {
                return try checkIsAsStored(draft, number, entity)
            }
            var own = draft
            defer { if own.block != draft.block { own.destroy() } }
            if core.pointee.hasExtra, let adopted = core.pointee.extraIfPresent?.adoptedBlobs, !adopted.isEmpty {
                own = draft.copy()
                try adoptBlobs(adopted, &own, number, entity, &transaction)
            }
            try writer.update(
                own, id: number, base: core.pointee.base, hasEnteredKeys: saving.hasKeys(number, entity), entity,
                in: &transaction)
            try history?.noteUpdate(number, mask: draft.changedMask, entity, in: &transaction)
        }
    }

    /// Gives every inserted object its number: a new one, or that of the stored object whose place it takes.
    private func resolveInserts(
        _ saving: inout SavingState, _ writer: inout RowWriter, _ transaction: inout Transaction
    ) throws {
        saving.numbers = [RecordID](repeating: 0, count: inserted.count)
        // Objects whose unique keys name other new objects: those get their numbers first.
        var waiting: [Int] = []
        try inserted.forEachKept { place, core, entity in
            guard core.pointee.draft != nil else { return }
            try checkUnshared(entity.table, "an object of \(entity.name)", "inserted")
            if entity.uniqueIndexes.isEmpty || !entity.uniqueKeysNameObjects {
                _ = try resolveInsert(place, core, entity, &saving, &writer, &transaction)
            } else {
                waiting.append(place)
            }
        }
        while !waiting.isEmpty {
            var later: [Int] = []
            for place in waiting {
                let core = inserted[place].core
                guard let entity = core.pointee.home.takeUnretainedValue().entity else { continue }
                guard saving.resolve(core, entity, inserted, isLast: false),
                    try resolveInsert(place, core, entity, &saving, &writer, &transaction)
                else {
                    later.append(place)
                    continue
                }
            }
            if later.count == waiting.count {
                // They name each other in a ring: none of them can be in the store already by the key that names the
                // others.
                for place in later {
                    guard let entity = inserted[place].core.pointee.home.takeUnretainedValue().entity else { continue }
                    saving.numbers[place] = try transaction.allocateIDs(1, in: entity.table)
                }
                for place in later {
                    let core = inserted[place].core
                    guard let entity = core.pointee.home.takeUnretainedValue().entity else { continue }
                    saving.resolve(core, entity, inserted, isLast: true)
                    guard let draft = core.pointee.draft else { continue }
                    try writer.takeKeys(draft, id: saving.numbers[place], entity, in: &transaction)
                }
                return
            }
            waiting = later
        }
    }

    /// False if the object whose place it takes is to refer to a new object without a number yet.
    private func resolveInsert(
        _ place: Int, _ core: UnsafeMutablePointer<ModelCore>, _ entity: EntityStorage, _ saving: inout SavingState,
        _ writer: inout RowWriter, _ transaction: inout Transaction
    ) throws -> Bool {
        guard let draft = core.pointee.draft else { return true }
        if !chosenNumbers.isEmpty, let chosen = chosenNumbers[core.pointee.number] {
            if let holder = try writer.holder(of: draft, entity, in: transaction) {
                throw StoreError(
                    .duplicate,
                    "Objects \(holder) and \(chosen) of \(entity.name) would have the same unique values. Use output.upsert, or drop one of them."
                )
            }
            try writer.enterKeys(draft, id: chosen, entity, in: &transaction)
            saving.numbers[place] = chosen
            return true
        }
        if refusesUpserts, let holder = try writer.holder(of: draft, entity, in: transaction) {
            throw StoreError(
                .duplicate,
                "A new \(entity.name) would have the same unique values as object \(holder). Make one object of both (in a streamed stage by output.upsert), or change one of them."
            )
        }
        if entity.uniqueIndexes.count == 1 {
            let (number, isTaken) = try writer.claim(draft, entity, in: &transaction)
            saving.numbers[place] = number
            if isTaken { saving.upserts.insert(place) }
            return true
        }
        guard !entity.uniqueIndexes.isEmpty, let holder = try writer.holder(of: draft, entity, in: transaction) else {
            let number = try transaction.allocateIDs(1, in: entity.table)
            saving.numbers[place] = number
            guard !entity.uniqueIndexes.isEmpty else { return true }
            try writer.enterKeys(draft, id: number, entity, in: &transaction)
            saving.keyHolders[.init(entity: entity.ordinal, number: number)] = .init(place: place)
            return true
        }
        // The keys of all constraints are those of the values that the object will have: relationships that the new one
        // does not set stay.
        let owner = SavingState.KeyOwner(entity: entity.ordinal, number: holder)
        guard let kept = try keptTargets(draft, holder, entity, saving, writer, transaction) else { return false }
        saving.numbers[place] = holder
        saving.upserts.insert(place)
        if let earlier = saving.keyHolders[owner], let draft = inserted[earlier.place].core.pointee.draft {
            try draft.withTargets(earlier.kept) { try writer.removeKeys($0, id: holder, entity, in: &transaction) }
        } else {
            try writer.releaseKeys(id: holder, entity, in: &transaction)
        }
        try draft.withTargets(kept) { try writer.takeKeys($0, id: holder, entity, in: &transaction) }
        saving.keyHolders[owner] = .init(place: place, kept: kept)
        return true
    }

    /// Targets in unique slots that a new object does not set, and so leaves to the object whose place it takes; nil if
    /// one of them has no number yet.
    private func keptTargets(
        _ draft: Draft, _ number: RecordID, _ entity: EntityStorage, _ saving: SavingState,
        _ writer: borrowing RowWriter,
        _ transaction: borrowing Transaction
    ) throws -> [SavingState.KeptTarget]? {
        let slots = entity.toOneSlots.filter { entity.uniqueSlots.contains($0) && draft.toOne($0) == 0 }
        guard !slots.isEmpty else { return [] }
        var known: [Int: RecordID] = [:]
        let earlier = saving.keyHolders[.init(entity: entity.ordinal, number: number)]
        if let earlier, let draft = inserted[earlier.place].core.pointee.draft {
            for slot in slots { known[slot] = draft.toOne(slot) }
            for target in earlier.kept { known[target.slot] = target.number }
        } else {
            let home = homes[entity.ordinal]
            let twin = registeredObject(number, home).flatMap { handle(of: $0, home) }
            if let twin, twin.core.pointee.has(.changed), let draft = twin.core.pointee.draft {
                for slot in slots where draft.changedMask & SlotMask.bit(slot) != 0 {
                    var saving = saving
                    let reference = ObjectReference(bits: draft.toOne(slot))
                    let target = saving.number(reference, inserted)
                    if reference.isTemporary, target == 0 { return nil }
                    known[slot] = target
                }
            }
            let stored = try writer.targets(of: number, entity, slots, in: transaction)
            for (slot, target) in zip(slots, stored) where known[slot] == nil { known[slot] = target }
        }
        return slots.compactMap { slot in
            known[slot].flatMap { $0 == 0 ? nil : SavingState.KeptTarget(slot: slot, number: $0) }
        }
    }

    private func writeInserts(
        _ saving: inout SavingState, _ writer: inout RowWriter, _ transaction: inout Transaction
    ) throws {
        let history = history
        try inserted.forEachKept { place, core, entity in
            let number = saving.numbers[place]
            guard number != 0, let draft = core.pointee.draft else { return }
            var own = draft
            defer { if own.block != draft.block { own.destroy() } }
            if core.pointee.hasExtra, let adopted = core.pointee.extraIfPresent?.adoptedBlobs, !adopted.isEmpty {
                own = draft.copy()
                try adoptBlobs(adopted, &own, number, entity, &transaction)
            }
            if !saving.upserts.isEmpty, saving.upserts.contains(place) {
                let marked = own.withUpsertMarks(entity)
                try writer.update(marked, id: number, base: 0, hasEnteredKeys: true, entity, in: &transaction)
                try history?.noteUpdate(number, mask: marked.changedMask, entity, in: &transaction)
            } else {
                try writer.insert(own, id: number, entity, in: &transaction)
                if let history { try history.noteInsert(number, entity, in: &transaction) }
            }
        }
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

    /// Makes values that were given by reference the object's own: a blob has one owner.
    private func adoptBlobs(
        _ adopted: [Int: UInt64], _ draft: inout Draft, _ number: RecordID, _ entity: EntityStorage,
        _ transaction: inout Transaction
    ) throws {
        for (slot, identifier) in adopted.sorted(by: { $0.key < $1.key }) {
            // The slot may have been set to something else since.
            guard let reference = draft.blobReference(slot), reference.identifier == identifier else { continue }
            if let mayMoveBlob, mayMoveBlob(identifier) { continue }
            let owner = BlobOwner(table: entity.table, slot: UInt16(truncatingIfNeeded: slot), id: number)
            let copy = try transaction.copyBlob(identifier, owner: owner)
            draft.setBlobReference(slot, identifier: copy, byteCount: reference.byteCount)
        }
    }

    // MARK: Afterwards

    /// Copies the values of deleted objects that somebody else holds, while they can still be read.
    ///
    /// A value out of the row is not read: its file is held, for as long as the object lives.
    private func keepLastValues() {
        for place in deleted.indices where !isKnownUniquelyReferenced(&deleted[place].object) {
            let handle = deleted[place]
            // Of a deleted object a draft is no change.
            if handle.core.pointee.draftPointer == nil {
                // An older row may name values that others have replaced.
                if hasOlderRows { handle.core.pointee.row = .none }
                _ = handle.core.pointee.makeChangeable(0)
            }
            guard let entity = handle.core.pointee.home.takeUnretainedValue().entity,
                let draft = handle.core.pointee.draft
            else { continue }
            for slot in entity.variableSlots {
                guard let blob = draft.blobReference(slot)?.identifier else { continue }
                do { handle.core.pointee.extra.lastBlobs[blob] = try snapshot.hold(blob) } catch { report(error) }
            }
        }
    }

    /// Turns the saved objects into stored ones.
    ///
    /// `sequence` is that of the save's transaction, if it wrote anything.
    private func finish(_ saving: inout SavingState, _ receipt: CommitReceipt, _ sequence: UInt64) {
        collectSaved(saving, sequence)
        if doomedNumbers != nil { doomedCounts = deletion.map(deletedCounts) ?? [:] }
        saving.forgetReplaced()
        relationships.removeAll()
        let tellDeletions = deletion.map { finishDeletions($0, saving) }
        keepLastValues()
        let tellMove = moveToSaved(receipt.snapshot, sequence)
        let watched = finishInserts(saving)
        for handle in changed where !handle.core.pointee.has(.deleted) {
            showStored(handle)
            handle.core.pointee.dropExtra()
        }
        chosenNumbers.removeAll()
        for handle in deleted { handle.core.pointee.becomeGone() }
        forgetChanges()
        deletion = nil
        // Now that nothing is left to do, because those who are told may change things.
        for observation in watched { observation.noteChangeOfAll() }
        tellDeletions?()
        tellMove?()
    }

    /// Registers the objects that were inserted under their numbers.
    ///
    /// - Returns: Who watches objects that show other values now.
    private func finishInserts(_ saving: SavingState) -> [ObjectObservation] {
        var watched: [ObjectObservation] = []
        let isPlain = saving.upserts.isEmpty && chosenNumbers.isEmpty
        // The only array of them, so that an object which nobody else holds is seen to be so.
        var handles: [ObjectHandle] = []
        swap(&handles, &inserted)
        handles.withUnsafeMutableBufferPointer { handles in
            for place in handles.indices {
                let number = saving.numbers[place]
                guard number != 0 else { continue }
                // An object that nobody but the context holds goes away with its array, and need not be entered anywhere.
                if isPlain, isKnownUniquelyReferenced(&handles[place].object) { continue }
                finishInsert(handles[place], number, &watched)
            }
        }
        swap(&handles, &inserted)
        return watched
    }

    private func finishInsert(_ handle: ObjectHandle, _ number: RecordID, _ watched: inout [ObjectObservation]) {
        let home = handle.core.pointee.home.takeUnretainedValue()
        handle.core.pointee.becomeStored(number)
        lock.lock()
        let twin = livingObject(home.identities.address(of: number))
        if twin == nil {
            home.identities.insert(
                UInt(bitPattern: Unmanaged.passUnretained(handle.object).toOpaque()), for: number)
            handle.core.pointee.insert(.registered)
        }
        lock.unlock()
        guard let twin, let canonical = self.handle(of: twin, home) else { return }
        // The object whose place was taken shows the new values from now on; the new one is its alias.
        for core in [handle.core, canonical.core] {
            if let observation = core.pointee.extraIfPresent?.observation { watched.append(observation) }
        }
        handle.core.pointee.becomeAlias(of: canonical)
        if !canonical.core.pointee.has(.changed) { canonical.core.pointee.row = .none }
    }
}

extension Draft {
    /// Calls `body` while nil to-one slots have targets.
    fileprivate func withTargets(_ targets: [SavingState.KeptTarget], _ body: (Draft) throws -> Void) rethrows {
        for target in targets { setToOne(target.slot, target.number) }
        defer { for target in targets { setToOne(target.slot, 0) } }
        try body(self)
    }

    /// The draft of an object that takes a stored one's place, marked so that relationships it does not set stay as
    /// they are stored.
    func withUpsertMarks(_ entity: EntityStorage) -> Draft {
        clearMarks()
        for (slot, storage) in entity.slots.enumerated() {
            switch storage {
            case .toOne where toOne(slot) == 0, .toMany: break
            default: mark(slot)
            }
        }
        return self
    }
}

extension ModelCore {
    /// Makes a saved new object a stored one: its values are read from the store from now on.
    mutating func becomeStored(_ number: RecordID) {
        setNumber(number)
        extraIfPresent?.observation?.number = number
        remove(.temporary)
        remove(.inserted)
        remove(.changed)
        dropDraft()
        dropExtra()
        row = .none
    }

    /// Makes a deleted object one that only shows its last values.
    mutating func becomeGone() {
        remove(.deleted)
        remove(.changed)
        insert(.gone)
    }
}
