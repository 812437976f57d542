internal import FaultlineDisk
package import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// What a migration's stage asks of the context it writes through.

extension ContextCore {
    /// Objects that the next save writes.
    package var unsavedCount: Int { inserted.count + changed.count }

    /// Objects with changes that no save has written.
    package var pendingCount: Int { unsavedCount + deleted.count }

    /// Objects that the next save adds.
    package var insertedCount: Int { inserted.count }

    /// Bytes of their values in memory, roughly.
    package var unsavedByteCount: Int {
        // Counted when asked, from the last count on: drafts of inserted objects do not grow after the closure that
        // made them.
        while countedInserted < inserted.count {
            countedBytes += inserted[countedInserted].core.pointee.draft?.memoryByteCount ?? 0
            countedInserted += 1
        }
        if inserted.isEmpty {
            countedInserted = 0
            countedBytes = 0
        }
        return countedBytes + changed.count * 512
    }

    /// Inserts an object, or says why it cannot be.
    package func insertChecked<T: PersistentModel>(_ model: T) throws {
        insert(model: model)
        if let pendingError {
            self.pendingError = nil
            throw pendingError
        }
    }

    /// Gives a new object the number it is to have when it is saved.
    package func choose<T: PersistentModel>(_ number: RecordID, for model: T) {
        chosenNumbers[model._$coreAddress().pointee.number] = number
    }

    /// The keys of a new object in the unique indexes of its entity; nil if its class is unknown here.
    package func uniqueKeys<T: PersistentModel>(of model: T) throws -> [(index: UInt32, bytes: [UInt8])]? {
        let home = try require(T.self)
        let handle = ObjectHandle(model)
        guard let entity = home.entity else { return nil }
        try takeUniqueBlobs(handle, entity)
        guard let draft = handle.core.pointee.draft else { return nil }
        return entity.uniqueIndexes.compactMap { index in
            RowKeys.key(of: draft, index).map { (index.definition.id.rawValue, $0) }
        }
    }

    /// The stored object that has one of the keys.
    package func holder(of keys: [(index: UInt32, bytes: [UInt8])]) throws -> RecordID? {
        try beginReading()
        defer { endReading() }
        for key in keys {
            let definition = IndexDefinition(id: IndexID(rawValue: key.index), isUnique: true, searchPrefix: .wholeKey)
            let found = try key.bytes.withUnsafeBytes { try snapshot.firstID(in: definition, key: $0) }
            if let found { return found }
        }
        return nil
    }

    /// The object of a number, registered or a fault.
    package func existing<T: PersistentModel>(_ number: RecordID, as type: T.Type) throws -> T {
        object(number, try require(T.self), as: T.self)
    }

    /// Sets the attributes in which an object differs from a new one.
    package func overwrite<T: PersistentModel>(_ found: T, with new: T) {
        guard found !== new, let home = home(of: T._$modelType), let entity = home.entity else { return }
        let source = ObjectHandle(new)
        let target = ObjectHandle(found)
        guard let draft = source.core.pointee.draft else { return }
        for (slot, storage) in entity.slots.enumerated() where storage == .attribute {
            let isSame =
                target.core.pointee.read(
                    { RowKeys.isEqual(draft, $0, slot, entity.layout) },
                    { RowKeys.isEqual(draft, $0, slot, entity.layout) })
                ?? false
            guard !isSame, target.core.pointee._$beginChange(slot) else { continue }
            target.core.pointee.write { $0.takeValue(of: draft, slot: slot, layout: entity.layout) }
        }
    }

    /// Refuses to write in a table that the old state of a migration reads.
    @inline(__always)
    func checkUnshared(_ table: TableID, _ what: @autoclosure () -> String, _ done: String) throws {
        guard !sharedTables.isEmpty, sharedTables.contains(table) else { return }
        throw SwiftDataError.modelValidationFailure.explained(
            "A streamed stage \(done) an object of \(what()), whose objects go over as they are: the old state would see it. Name the entity in the stage, with a StreamedEntity of its own."
        )
    }

    /// Checks that an object of a table that the old state reads has the values that are stored: setting a relationship
    /// may touch it without changing it.
    func checkIsAsStored(_ draft: Draft, _ number: RecordID, _ entity: EntityStorage) throws {
        var buffer = RecordBuffer()
        guard let record = try snapshot.read(number, in: entity.table, into: &buffer) else { return }
        let view = try store.view(record, of: entity)
        for (slot, storage) in entity.slots.enumerated() where draft.changedMask & SlotMask.bit(slot) != 0 {
            let isSame: Bool
            switch storage {
            case .attribute: isSame = RowKeys.isEqual(draft, view, slot, entity.layout)
            case .toOne: isSame = draft.toOne(slot) == view.toOne(slot)
            case .toMany: isSame = true
            }
            if !isSame { try checkUnshared(entity.table, entity.name, "changed") }
        }
    }

    /// Lets go of rows and of the old snapshot, between two batches.
    package func forgetRows() {
        lock.lock()
        let freed = rows.evictAll()
        lock.unlock()
        if freed > 0 { store.log.budget.release(freed, for: .rows) }
    }
}

extension ContextCore {
    /// Objects of a class that are stored.
    package func storedCount(_ type: any PersistentModel.Type) -> Int {
        guard let entity = home(of: type._$modelType)?.entity else { return 0 }
        do throws(LogError) {
            try beginReading()
            defer { endReading() }
            return snapshot.recordCount(of: entity.table)
        } catch {
            report(error)
            return 0
        }
    }

    /// Walks the stored objects of a class in the order of creation, each with its number and the values it has out of
    /// its row.
    ///
    /// Rows are read ahead; an object is let go of before the next, unless `body` keeps it.
    package func forEachStored(
        _ type: any PersistentModel.Type, after last: RecordID,
        _ body: (_ object: AnyObject, _ number: RecordID, _ blobs: [UInt64]) throws -> Void
    ) throws {
        guard let home = home(of: type._$modelType), let entity = home.entity else {
            throw SwiftDataError.unknownSchema.explained("\(type) is not among the models of this version.")
        }
        try beginReading()
        defer { endReading() }
        let snapshot = snapshot
        try snapshot.scan(
            entity.table, from: last + 1, through: ModelCore.numberMask, readAhead: RowArena.blockByteCount
        ) { records in
            for record in records {
                tally.addRow()
                let view = try store.view(record, of: entity)
                let blobs = entity.variableSlots.compactMap { view.blobReference($0)?.identifier }
                guard let object = anyObject(record.id, home), let handle = handle(of: object, home) else { continue }
                if handle.core.pointee.row == .none { handle.core.pointee.row = keep(view, at: record.location) }
                try body(object, record.id, blobs)
            }
            // Rows are read once: what is behind goes back, so that the memory is the writing side's.
            forgetRows()
            return true
        }
    }
}
