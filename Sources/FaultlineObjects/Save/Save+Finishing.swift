internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// The objects of a context after their changes were stored.

extension Save {
    /// Adds the written objects to the counts of a migration's stage.
    func noteSavedInStage() {
        guard let stage = context.stage else { return }
        var saved = StageSession.Counts()
        saved.blobsLeftBehind = writer.keptBlobs.count
        let changed = context.pending.changed.array
        saved.written = context.pending.living.counts { place, _ in numbers[place] != 0 }
            .merging(changed.counts { _, core in !core.pointee.has(.deleted) }, uniquingKeysWith: +)
        if !numbers.spilled.isEmpty { saved.written.merge(spilledCounts, uniquingKeysWith: +) }
        let last =
            changed.last { !$0.core.pointee.has(.deleted) }.map { ($0, $0.core.pointee.number) }
            ?? context.pending.living.indices.last { numbers[$0] != 0 && !isBeforeSpilled($0) }
            .map { (context.pending.living[$0], numbers[$0]) }
        if let (handle, number) = last {
            let entityName = handle.core.pointee.home.takeUnretainedValue().entityName
            saved.last = StageSession.SavedObject(entityName: entityName, number: number)
        } else if let last = numbers.spilled.last {
            saved.last = StageSession.SavedObject(
                entityName: context.homes[last.ordinal].entityName, number: last.number)
        }
        for (ordinal, count) in cleared.counts {
            saved.written[context.homes[ordinal].entityName, default: 0] += count
        }
        saved.deleted = deletion.map(\.deletedCounts) ?? [:]
        stage.noteSaved(saved)
    }

    /// Copies the values of deleted objects that are still referenced, while they can be read.
    ///
    /// A large value is not read: its file is held for as long as the object lives.
    private func keepLastValues() {
        for place in context.pending.deleted.indices
        where !isKnownUniquelyReferenced(&context.pending.deleted[place].object) {
            let handle = context.pending.deleted[place]
            // A draft of a deleted object is no change.
            if handle.core.pointee.draftPointer == nil {
                // An older row may name values that another save has replaced.
                if context.state.hasOlderRows { handle.core.pointee.row = .none }
                _ = handle.core.pointee.makeChangeable(0)
            }
            guard let entity = handle.core.pointee.home.takeUnretainedValue().entity,
                let draft = handle.core.pointee.draft
            else { continue }
            for slot in entity.variableSlots {
                // A value that the object was given stays with it.
                guard let blob = draft.blobReference(slot)?.identifier, GivenBlob.find(blob) == nil else { continue }
                do { handle.core.pointee.extra.lastBlobs[blob] = try context.snapshot.hold(blob) } catch {
                    context.report(error)
                }
            }
        }
    }

    /// Turns the saved objects into stored ones.
    ///
    /// `sequence` is that of the save's transaction, if it wrote anything.
    mutating func finish(_ receipt: CommitReceipt, _ sequence: UInt64) {
        collectSaved(sequence)
        if context.pending.doomedNumbers != nil {
            context.saving.deletedCounts = deletion.map(\.deletedCounts) ?? [:]
        }
        replaced.forget()
        context.pending.relationships.removeAll()
        let tellDeletions = deletion.map { finishDeletions($0) }
        keepLastValues()
        let tellMove = context.moveToSaved(receipt.snapshot, sequence)
        var watched = finishInserts()
        if !numbers.spilled.isEmpty { showSpilledUpserts(&watched) }
        for handle in context.pending.changed where !handle.core.pointee.has(.deleted) {
            context.showStored(handle)
            handle.core.pointee.dropExtra()
        }
        context.rules.forgetChosenNumbers()
        for handle in context.pending.deleted { handle.core.pointee.becomeGone() }
        if !context.pending.deleted.isEmpty { context.state.hasGoneObjects = true }
        context.undo?.noteSaved(replacing: upserts.map { context.pending.living[$0] })
        context.forgetChanges()
        context.saving.deletes = nil
        // Called last, because observers may change objects.
        guard context.saving.later == nil else { return tellLater(watched, tellDeletions, tellMove) }
        for observation in watched { observation.noteChangeOfAll() }
        tellDeletions?()
        tellMove?()
    }

    /// Keeps the calls of observers until a save over several stores has ended.
    private func tellLater(
        _ watched: [ObjectObservation], _ tellDeletions: (() -> Void)?, _ tellMove: (() -> Void)?
    ) {
        context.saving.later?.append {
            for observation in watched { observation.noteChangeOfAll() }
            tellDeletions?()
            tellMove?()
        }
    }

    /// Registers the objects that were inserted under their numbers.
    ///
    /// - Returns: The observers of objects that show other values now.
    private func finishInserts() -> [ObjectObservation] {
        var watched: [ObjectObservation] = []
        let isPlain = upserts.isEmpty && context.rules.chosenNumbers.isEmpty
        // The only reference to the array, so that an object without another owner can be detected.
        var handles: [ObjectHandle] = []
        swap(&handles, &context.pending.living)
        handles.withUnsafeMutableBufferPointer { handles in
            for place in handles.indices {
                let number = numbers[place]
                if context.pending.forgetUnfinished != nil { handles[place].core.pointee.remove(.initializing) }
                guard number != 0 else { continue }
                // An object that only the context owns is freed with its array, and is registered nowhere.
                if isPlain, isKnownUniquelyReferenced(&handles[place].object) { continue }
                finishInsert(handles[place], number, &watched)
            }
        }
        swap(&handles, &context.pending.living)
        return watched
    }

    private func finishInsert(_ handle: ObjectHandle, _ number: RecordID, _ watched: inout [ObjectObservation]) {
        handle.core.pointee.becomeStored(number)
        guard let home = handle.core.pointee.contextHome?.takeUnretainedValue() else { return }
        context.lock.lock()
        let twin = ObjectRegistry(context).livingObject(home.identities.address(of: number))
        if twin == nil {
            home.identities.insert(
                UInt(bitPattern: Unmanaged.passUnretained(handle.object).toOpaque()), for: number)
            handle.core.pointee.insert(.registered)
        }
        context.lock.unlock()
        guard let twin, let canonical = home.handle(of: twin) else { return }
        // The object that was replaced shows the new values from now on; the new one is its alias.
        for core in [handle.core, canonical.core] {
            if let observation = core.pointee.extraIfPresent?.observation { watched.append(observation) }
        }
        handle.core.pointee.becomeAlias(of: canonical)
        if !canonical.core.pointee.has(.changed) { canonical.core.pointee.row = .none }
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
        // Its ephemeral values are those that it was given.
        insert(.awake)
        dropDraft()
        if hasExtra {
            extra.isMadeByName = false
            dropExtra()
        }
        row = .none
    }

    /// Makes a deleted object one that only shows its last values.
    mutating func becomeGone() {
        remove(.deleted)
        remove(.changed)
        insert(.gone)
    }
}
