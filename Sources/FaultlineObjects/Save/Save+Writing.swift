internal import FaultlineLog
internal import FaultlineStore

// The rows of changed and new objects.

extension Save {
    /// Writes the changed objects.
    mutating func writeChanges(in transaction: inout Transaction) throws {
        try context.pending.changed.forEachKept { _, core, entity in
            guard let draft = core.pointee.draft else { return }
            let number = core.pointee.number
            if !context.rules.sharedTables.isEmpty, context.rules.sharedTables.contains(entity.table) {
                return try checkIsAsStored(draft, number, entity)
            }
            var own = draft
            defer { if own.block != draft.block { own.destroy() } }
            if core.pointee.hasExtra, let extra = core.pointee.extraIfPresent, !extra.givenValues.isEmpty {
                own = draft.copy()
                try adoptBlobs(extra, &own, number, entity, in: &transaction)
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

    /// Writes the new objects under their numbers.
    mutating func writeInserts(in transaction: inout Transaction) throws {
        let reader = spillReader
        try context.pending.living.forEachKept { position, core, entity in
            if let reader { try writeSpilled(reader, before: position, in: &transaction) }
            let number = numbers[position]
            guard number != 0, let draft = core.pointee.draft else { return }
            var own = draft
            defer { if own.block != draft.block { own.destroy() } }
            if core.pointee.hasExtra, let extra = core.pointee.extraIfPresent, !extra.givenValues.isEmpty {
                own = draft.copy()
                try adoptBlobs(extra, &own, number, entity, in: &transaction)
            }
            let isUpsert = !upserts.isEmpty && upserts.contains(position)
            try writeInsert(own, core, number, isUpsert: isUpsert, entity, in: &transaction)
        }
        if let reader { try writeSpilled(reader, in: &transaction) }
    }

    /// Writes the row of a new object, or of a stored one that it replaces.
    @inline(__always)
    mutating func writeInsert(
        _ draft: Draft, _ core: UnsafeMutablePointer<ModelCore>, _ number: RecordID, isUpsert: Bool,
        _ entity: EntityStorage, in transaction: inout Transaction
    ) throws {
        do throws(StoreError) {
            if isUpsert {
                // The row of an earlier insert of this save is written by now.
                if let conflict = try writer.conflictOfClasses(draft, with: number, entity, in: transaction) {
                    return noteDuplicate(conflict, core, entity)
                }
                try writer.update(
                    draft.withUpsertMarks(entity), id: number, base: 0, hasEnteredKeys: true, entity, in: &transaction)
            } else {
                try writer.insert(draft, id: number, entity, in: &transaction)
            }
        } catch {
            return try note(error, core, entity)
        }
        guard let history else { return }
        if isUpsert {
            try history.noteUpdate(number, mask: draft.changedMask, entity, in: &transaction)
        } else {
            try history.noteInsert(number, entity, in: &transaction)
        }
    }

    /// Places, copies or moves values that were given by reference: a blob has one owner.
    private mutating func adoptBlobs(
        _ extra: ObjectExtra, _ draft: inout Draft, _ number: RecordID, _ entity: EntityStorage,
        in transaction: inout Transaction
    ) throws {
        try extra.givenValues.forEach { slot, value in
            // The slot may have been set to another value since.
            guard let reference = draft.blobReference(slot), reference.identifier == value.number else { return }
            let owner = BlobOwner(table: entity.table, slot: UInt16(truncatingIfNeeded: slot), id: number)
            // It may come from a row, and counts must not overflow.
            let byteCount = Int(min(reference.byteCount, Limits.blobByteCountMax))
            let own: UInt64
            if let given = value.source as? GivenBlob {
                if let moved = given.movableNumber(in: store.log), writer.passed.take(moved) {
                    blobs.passedCount += 1
                    blobs.byteCountMoved += byteCount
                    own = moved
                } else {
                    blobs.byteCountWritten += byteCount
                    own = try given.place(in: &transaction, owner: owner)
                }
            } else {
                if let mayMoveBlob = context.rules.mayMoveBlob, mayMoveBlob(value.number) {
                    blobs.byteCountMoved += byteCount
                    return
                }
                blobs.byteCountWritten += byteCount
                own = try transaction.copyBlob(value.number, owner: owner)
            }
            draft.setBlobReference(slot, identifier: own, byteCount: reference.byteCount)
        }
    }

    /// Finds the large values that the save passes from one object to another: in a migration stage, those that an
    /// object was given, and that the update or deletion of their owner gives up.
    mutating func findPassedBlobs(in transaction: borrowing Transaction) throws {
        guard context.rules.spillsLargeValues else { return }
        for handles in [context.pending.living, context.pending.changed.array] {
            for handle in handles where handle.core.pointee.hasExtra {
                guard let values = handle.core.pointee.extraIfPresent?.givenValues else { continue }
                values.forEach { _, value in
                    guard let given = value.source as? GivenBlob else { return }
                    if let moved = given.movableNumber(in: store.log) { writer.passed.want(moved) }
                }
            }
        }
        guard !writer.passed.isEmpty else { return }
        try context.pending.changed.forEachKept { _, core, entity in
            guard let draft = core.pointee.draft, !context.rules.sharedTables.contains(entity.table) else { return }
            try writer.expectBlobs(givenUpBy: draft, id: core.pointee.number, entity, in: transaction)
        }
    }
}
