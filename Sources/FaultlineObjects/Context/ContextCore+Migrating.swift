internal import FaultlineDisk
package import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// Operations that a migration stage needs from the context it writes through.

extension ContextCore {
    /// Objects that the next save writes.
    package var unsavedCount: Int { pending.inserted.count + pending.changed.count }

    /// Objects with unsaved changes.
    package var pendingCount: Int { unsavedCount + pending.deleted.count }

    /// Objects that the next save adds.
    package var insertedCount: Int { pending.inserted.count }

    /// Objects of a class that the next save adds, after the first `start` of all.
    package func inserted<T: PersistentModel>(_ type: T.Type, from start: Int) -> [T] {
        guard let home = home(of: T._$modelType), start < pending.inserted.count else { return [] }
        return pending.inserted[start...].compactMap {
            guard $0.core.pointee.home.takeUnretainedValue() === home else { return nil }
            return $0.object as? T
        }
    }

    /// Objects that the next save adds, by entity.
    package var insertedCounts: [String: Int] { Self.counts(of: pending.inserted) }

    /// Objects by entity.
    static func counts(of handles: [ObjectHandle]) -> [String: Int] {
        var counts: [String: Int] = [:]
        var name = ""
        var count = 0
        // Neighbours mostly belong to one entity.
        for handle in handles {
            let home = handle.core.pointee.home.takeUnretainedValue()
            if home.entityName != name {
                if count > 0 { counts[name, default: 0] += count }
                name = home.entityName
                count = 0
            }
            count += 1
        }
        if count > 0 { counts[name, default: 0] += count }
        return counts
    }

    /// Approximate bytes of their values in memory.
    package var unsavedByteCount: Int {
        // Counted on demand, from the last count on: drafts of inserted objects do not grow after the closure that made
        // them.
        stageMemory.unsaved.count(inserted: pending.inserted, changedCount: pending.changed.count)
    }

    /// Inserts an object, or throws the reason why it cannot.
    package func insertChecked<T: PersistentModel>(_ model: T) throws {
        insert(model: model)
        if let error = takePendingError() { throw error }
    }

    /// Sets the number that a new object gets when it is saved.
    package func choose<T: PersistentModel>(_ number: RecordID, for model: T) {
        rules.chosenNumbers[model._$coreAddress().pointee.number] = number
    }

    /// Whether there is a stored object of a number.
    package func isTaken(_ number: RecordID, entityNamed name: String) throws -> Bool {
        guard let home = home(named: name), let entity = home.entity else { return false }
        try beginReading()
        defer { endReading() }
        return try !snapshot.location(of: number, in: entity.table).isAbsent
    }

    /// The error of an earlier call that could not throw, if there is one; the next save no longer throws it.
    package func takePendingError() -> (any Error)? {
        defer { errors.refusals.removeAll() }
        return errors.refusals.first
    }

    /// The dynamic object of a number: registered, or a fault.
    package func dynamicObject(_ number: RecordID, entityNamed name: String) throws -> ManagedObject {
        let type = try requireDynamic(name)
        guard let home = home(of: type), let found = anyObject(number, home) as? ManagedObject else {
            throw SwiftDataError.unknownSchema.explained("\(name) has no table in this store.")
        }
        return found
    }

    /// The keys of a new object in the unique indexes of its entity; nil if this context does not know its class.
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

    /// The object of a number: registered, or a fault.
    package func existing<T: PersistentModel>(_ number: RecordID, as type: T.Type) throws -> T {
        object(number, try require(T.self), as: T.self)
    }

    /// Copies the attributes in which a new object differs, into another object.
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

    /// Refuses a save by user code if only the stage may save.
    func checkSavesByItself(_ isOfStage: Bool) throws {
        guard rules.isSavedByStage, !isOfStage else { return }
        throw SwiftDataError.modelValidationFailure.explained(
            "The context of a mapped stage is saved by the migration, in batches. Leave the save out.")
    }

    /// Relationships that the next save writes as links.
    package var unsavedLinkCount: Int { pending.relationships.links.count }

    /// Refuses to write in a table that the old state of a migration reads.
    @inline(__always)
    func checkUnshared(_ table: TableID, _ what: @autoclosure () -> String, _ done: String) throws {
        guard !rules.sharedTables.isEmpty, rules.sharedTables.contains(table) else { return }
        throw SwiftDataError.modelValidationFailure.explained(
            "A migration stage \(done) \(what()), which goes over as it is: the old state would see it. Name the entity in the stage, with a StreamedEntity or a mapping of its own."
        )
    }

    /// Checks that an object in a table of the old state has its stored values: setting a relationship may touch it
    /// without changing it.
    func checkIsAsStored(_ draft: Draft, _ number: RecordID, _ entity: EntityStorage) throws {
        var buffer = RecordBuffer()
        guard let record = try snapshot.read(number, in: entity.table, into: &buffer) else { return }
        let view = try store.view(record, of: entity)
        for (slot, storage) in entity.slots.enumerated() where draft.isChanged(slot) {
            let isSame: Bool
            switch storage {
            case .attribute: isSame = RowKeys.isEqual(draft, view, slot, entity.layout)
            case .toOne: isSame = draft.toOne(slot) == view.toOne(slot)
            case .toMany: isSame = true
            }
            if !isSame { try checkUnshared(entity.table, "an object of \(entity.name)", "changed") }
        }
    }

    /// Releases rows and the old snapshot, between two batches.
    package func forgetRows() {
        lock.lock()
        let freed = rows.evictAll()
        lock.unlock()
        noteRowsForgotten()
        if freed > 0 { store.log.budget.release(freed, for: .rows) }
    }
}

extension ContextCore {
    /// Objects of a class that are stored.
    package func storedCount(_ type: any PersistentModel.Type) -> Int {
        storedCount(home(of: type._$modelType))
    }

    /// Dynamic objects of an entity that are stored.
    package func storedCount(entityNamed name: String) -> Int {
        storedCount(home(named: name))
    }

    private func storedCount(_ home: EntityHome?) -> Int {
        guard let entity = home?.entity else { return 0 }
        do throws(LogError) {
            try beginReading()
            defer { endReading() }
            return snapshot.recordCount(of: entity.table)
        } catch {
            report(error)
            return 0
        }
    }

    /// The greatest number of an object of a class; 0 if there is none.
    package func lastStoredNumber(_ type: any PersistentModel.Type) throws -> RecordID {
        guard let entity = home(of: type._$modelType)?.entity else { return 0 }
        try beginReading()
        defer { endReading() }
        return snapshot.nextID(of: entity.table) - 1
    }

    /// The same for the dynamic objects of an entity.
    package func lastStoredNumber(entityNamed name: String) throws -> RecordID {
        guard let entity = home(named: name)?.entity else { return 0 }
        try beginReading()
        defer { endReading() }
        return snapshot.nextID(of: entity.table) - 1
    }

    /// Walks the stored objects of a class in the order of creation, each with its number and its large values, from
    /// after one number through another.
    ///
    /// Rows are read ahead; an object is released before the next, unless `body` keeps it. The walk ends early if
    /// `goesOn` returns false.
    package func forEachStored(
        _ type: any PersistentModel.Type, after last: RecordID, through end: RecordID = ModelCore.numberMask,
        while goesOn: () -> Bool = { true },
        _ body: (_ object: AnyObject, _ number: RecordID, _ blobs: [UInt64]) throws -> Void
    ) throws {
        guard let home = home(of: type._$modelType) else {
            throw SwiftDataError.unknownSchema.explained("\(type) is not among the models of this version.")
        }
        try forEachStored(home, after: last, through: end, while: goesOn, body)
    }

    /// Checks that a filter can be applied to an entity's dynamic objects.
    package func check(_ filter: Filter, entityNamed name: String) throws {
        guard let home = home(of: try requireDynamic(name)) else { return }
        try beginReading()
        defer { endReading() }
        _ = try PreparedFilter(filter, home, self, includingPendingChanges: true)
    }

    /// Walks the stored dynamic objects of an entity that satisfy a filter, in the order of creation, from after one
    /// number through another; calls `skipped` for the others.
    package func forEachStored(
        entityNamed name: String, where filter: Filter?, after last: RecordID = 0,
        through end: RecordID = ModelCore.numberMask, skipped: () throws -> Void = {},
        while goesOn: () -> Bool = { true },
        _ body: (_ object: ManagedObject, _ number: RecordID, _ blobs: [UInt64]) throws -> Void
    ) throws {
        let type = try requireDynamic(name)
        guard let home = home(of: type) else { return }
        try beginReading()
        defer { endReading() }
        let prepared = try filter.map { try PreparedFilter($0, home, self, includingPendingChanges: true) }
        try forEachStored(home, after: last, through: end, while: goesOn) { object, number, blobs in
            guard let object = object as? ManagedObject, try prepared?.isSatisfied(by: object) ?? true else {
                return try skipped()
            }
            try body(object, number, blobs)
        }
    }

    func forEachStored(
        _ home: EntityHome, after last: RecordID, through end: RecordID, while goesOn: () -> Bool,
        _ body: (_ object: AnyObject, _ number: RecordID, _ blobs: [UInt64]) throws -> Void
    ) throws {
        guard let entity = home.entity else { return }
        try beginReading()
        defer { endReading() }
        let snapshot = snapshot
        try snapshot.scan(
            entity.table, from: last + 1, through: end, readAhead: RowArena.blockByteCount
        ) { records in
            for record in records {
                tally.addRow()
                let view = try store.view(record, of: entity)
                let blobs = blobs(of: view, entity)
                guard let object = anyObject(record.id, home), let handle = handle(of: object, home) else { continue }
                // Not if the context has moved on: it saves while it walks.
                if handle.core.pointee.row == .none, snapshot.sequence == self.snapshot.sequence {
                    handle.core.pointee.row = keep(view, at: record.location)
                }
                try body(object, record.id, blobs)
                guard goesOn() else { return false }
            }
            // Rows are read once: rows that the walk has passed are released, so that the writing side gets the memory.
            forgetRows()
            return true
        }
    }
}

extension ContextCore {
    /// Finds rows of an entity that lack required objects, or whose collections have too few or too many members.
    ///
    /// A migration's first pass makes objects before their related objects exist, so it checks afterwards.
    ///
    /// - Parameters:
    ///   - name: The entity.
    ///   - limit: The number of findings after which the search ends.
    ///   - rewritten: Entities whose objects may be missing although others refer to them.
    ///   - isLeftOut: Whether a row is not checked.
    ///   - progress: Called with the number of checked rows.
    /// - Returns: The first findings.
    /// - Throws: The store's error if it cannot be read.
    package func brokenRules(
        entityNamed name: String, limit: Int, targetsOf rewritten: Set<String>,
        except isLeftOut: (RecordID) -> Bool, progress: (_ rowCount: Int) throws -> Void
    ) throws -> [BrokenRule] {
        guard let home = home(named: name), let entity = home.entity,
            !entity.requiredSlots.isEmpty || !entity.boundedSlots.isEmpty
        else { return [] }
        let properties = store.storage.schema.entities[entity.ordinal].properties
        var findings: [BrokenRule] = []
        func add(_ number: RecordID, _ slot: Int, _ kind: BrokenRule.Kind) {
            findings.append(
                BrokenRule(entityName: name, number: number, propertyName: properties[slot].name, kind: kind))
        }
        try beginReading()
        defer { endReading() }
        try snapshot.scan(
            entity.table, from: 1, through: ModelCore.numberMask, readAhead: RowArena.blockByteCount
        ) { records in
            for record in records where !isLeftOut(record.id) {
                let view = try store.view(record, of: entity)
                for slot in entity.requiredSlots {
                    let target = view.toOne(slot)
                    if target == 0 {
                        add(record.id, slot, .missing)
                    } else if try isDangling(target, entity, slot, rewritten) {
                        add(record.id, slot, .dangling)
                    }
                }
                for slot in entity.boundedSlots {
                    guard case .toMany(let relationship) = entity.slots[slot] else { continue }
                    let count = try memberCount(of: record.id, relationship, rewritten)
                    if !relationship.bounds.allow(count) { add(record.id, slot, .count(count)) }
                }
            }
            try progress(records.count)
            return findings.count < limit
        }
        return Array(findings.prefix(limit))
    }

    /// How many members a collection has; a link may outlive the object that it leads to.
    private func memberCount(
        of owner: RecordID, _ relationship: ToManyStorage, _ rewritten: Set<String>
    ) throws -> Int {
        let members = try storedMembers(of: owner, relationship)
        guard case .link = relationship.members else { return members.count }
        return try members.count { try !isGone($0, relationship.destination, rewritten) }
    }

    private func isDangling(
        _ number: RecordID, _ entity: EntityStorage, _ slot: Int, _ rewritten: Set<String>
    ) throws -> Bool {
        guard case .toOne(let relationship) = entity.slots[slot] else { return false }
        return try isGone(number, relationship.destination, rewritten)
    }

    /// Whether a target is missing: checked for rewritten entities.
    private func isGone(_ number: RecordID, _ ordinal: Int, _ rewritten: Set<String>) throws -> Bool {
        let destination = homes[ordinal]
        guard rewritten.contains(destination.entityName), let table = destination.entity?.table else { return false }
        return try snapshot.location(of: number, in: table).isAbsent
    }

    /// Calls `body` with the large values of the rows of an entity, a batch of rows at a time; rows that `isLeftOut`
    /// names are skipped.
    package func forEachBlobs(
        entityNamed name: String, except isLeftOut: (RecordID) -> Bool,
        _ body: (_ blobs: [UInt64], _ rowCount: Int) throws -> Void
    ) throws {
        guard let entity = home(named: name)?.entity,
            !entity.variableSlots.isEmpty || store.mayHaveRemovedBlobs(entity)
        else { return }
        try beginReading()
        defer { endReading() }
        try snapshot.scan(
            entity.table, from: 1, through: ModelCore.numberMask, readAhead: RowArena.blockByteCount
        ) { records in
            var blobs: [UInt64] = []
            for record in records where !isLeftOut(record.id) {
                blobs += self.blobs(of: try store.view(record, of: entity), entity)
            }
            try body(blobs, records.count)
            return true
        }
    }
}

extension ContextCore {
    /// The large values of a row, including those of attributes that the schema has dropped.
    private func blobs(of view: RowView, _ entity: EntityStorage) -> [UInt64] {
        let blobs = entity.variableSlots.compactMap { view.blobReference($0)?.identifier }
        return store.mayHaveRemovedBlobs(entity) ? blobs + store.removedBlobs(of: view, entity) : blobs
    }
}

extension ManagedObject {
    /// Copies the position that an old object has in the collection of its target: the target of the new one has been
    /// set.
    package func takePlace(_ key: String, from old: ManagedObject, _ oldKey: String) {
        guard let slot = type.slotsByName[key], let oldSlot = old.type.slotsByName[oldKey] else { return }
        let source = old._$coreAddress()
        let number = source.pointee.number
        let given = source.pointee.read({ $0.orderKey(oldSlot) }, { $0.orderKey(oldSlot) }) ?? nil
        let core = _$coreAddress()
        let hasNumber = !core.pointee.has(.temporary) && core.pointee.number == number
        guard given != nil || !hasNumber, core.pointee.draftPointer != nil else { return }
        let order = given ?? MemberKey.defaultOrder(of: number)
        core.pointee.write { $0.setOrderKey(slot, order) }
    }

    /// The number of an attribute's value, if it is large Data; the value itself is not read.
    package func blobIdentifier(forKey key: String) -> UInt64? {
        guard let slot = type.slotsByName[key],
            let attribute = type.properties[slot].asAttribute, attribute.kind == .data,
            case .stored(let reference, nil, _)? = _$coreAddress().pointee.blob(of: slot)?.place
        else { return nil }
        return reference.identifier
    }
}
