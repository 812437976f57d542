internal import FaultlineDisk
package import FaultlineLog
internal import FaultlineModel
package import FaultlineStore

// The reads of a stage: its stored objects, one after the other.

extension StageContext {
    /// Objects of a class that are stored.
    package func storedCount(_ type: any PersistentModel.Type) -> Int {
        storedCount(core.home(of: type._$modelType))
    }

    /// Dynamic objects of an entity that are stored.
    package func storedCount(entityNamed name: String) -> Int {
        storedCount(core.home(named: name))
    }

    private func storedCount(_ home: EntityHome?) -> Int {
        guard let entity = home?.entity else { return 0 }
        do throws(LogError) {
            try core.beginReading()
            defer { core.endReading() }
            return core.snapshot.recordCount(of: entity.table)
        } catch {
            core.report(error)
            return 0
        }
    }

    /// The greatest number of an object of a class; 0 if there is none.
    package func lastStoredNumber(_ type: any PersistentModel.Type) throws -> RecordID {
        guard let entity = core.home(of: type._$modelType)?.entity else { return 0 }
        try core.beginReading()
        defer { core.endReading() }
        return core.snapshot.nextID(of: entity.table) - 1
    }

    /// The same for the dynamic objects of an entity.
    package func lastStoredNumber(entityNamed name: String) throws -> RecordID {
        guard let entity = core.home(named: name)?.entity else { return 0 }
        try core.beginReading()
        defer { core.endReading() }
        return core.snapshot.nextID(of: entity.table) - 1
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
        guard let home = core.home(of: type._$modelType) else {
            throw SwiftDataError.unknownSchema.explained("\(type) is not among the models of this version.")
        }
        try forEachStored(home, after: last, through: end, while: goesOn, body)
    }

    /// Checks that a filter can be applied to an entity's dynamic objects.
    package func check(_ filter: Filter, entityNamed name: String) throws {
        let entity = try core.dynamicEntity(named: name)
        try core.beginReading()
        defer { core.endReading() }
        _ = try PreparedFilter(filter, entity, core, includingPendingChanges: true)
    }

    /// Walks the stored dynamic objects of an entity that satisfy a filter, in the order of creation, from after one
    /// number through another; calls `skipped` for the others.
    package func forEachStored(
        entityNamed name: String, where filter: Filter?, after last: RecordID = 0,
        through end: RecordID = ModelCore.numberMask, skipped: () throws -> Void = {},
        while goesOn: () -> Bool = { true },
        _ body: (_ object: ManagedObject, _ number: RecordID, _ blobs: [UInt64]) throws -> Void
    ) throws {
        let entity = try core.dynamicEntity(named: name)
        try core.beginReading()
        defer { core.endReading() }
        let prepared = try filter.map { try PreparedFilter($0, entity, core, includingPendingChanges: true) }
        try forEachStored(entity.home, after: last, through: end, while: goesOn) { object, number, blobs in
            guard let object = object as? ManagedObject,
                try prepared?.isSatisfied(by: ObjectHandle(object)) ?? true
            else { return try skipped() }
            try body(object, number, blobs)
        }
    }

    /// Whether the rows of an entity alone can answer a filter.
    ///
    /// - Throws: `unsupportedPredicate` for a filter that does not fit the entity.
    package func isAnsweredByRows(_ filter: Filter, entityNamed name: String) throws -> Bool {
        let entity = try core.dynamicEntity(named: name)
        try core.beginReading()
        defer { core.endReading() }
        let lowered = try PreparedFilter(filter, entity, core, includingPendingChanges: true).lowered
        return lowered.isExact && lowered.candidates == nil
    }

    /// Walks the rows of an entity's objects that satisfy a filter, in the order of creation, from after one number on.
    ///
    /// Calls `skipped` for the others, and makes no object. The filter must be one that rows can answer. A row is valid
    /// until `body` returns.
    package func forEachStoredRow(
        entityNamed name: String, where filter: Filter?, after last: RecordID = 0, skipped: () throws -> Void = {},
        _ body: (_ row: RowView, _ number: RecordID) throws -> Void
    ) throws {
        let entity = try core.dynamicEntity(named: name)
        try core.beginReading()
        defer { core.endReading() }
        let question = try filter.map {
            let lowered = try PreparedFilter($0, entity, core, includingPendingChanges: true).lowered
            return RowQuestion(lowered.filter, entity.storage, core)
        }
        try core.snapshot.scan(
            entity.storage.table, from: last + 1, through: ModelCore.numberMask, readAhead: RowArena.blockByteCount
        ) { records in
            for record in records {
                core.tally.addRow()
                let row = try core.store.view(record, of: entity.storage)
                if try question?.isTrue(of: row) ?? true { try body(row, record.id) } else { try skipped() }
            }
            return true
        }
    }

    /// Reads the rows of some stored objects together, before the objects are used.
    ///
    /// Rows far from all others are left to their first use, because nothing is gained for them. The rows of the call
    /// before are forgotten by number: the list of them is not part of the memory budget.
    ///
    /// A row that cannot be read is reported when its object is used.
    package func readAhead(_ numbers: [RecordID], entityNamed name: String) {
        guard let home = core.home(named: name), (try? core.beginReading()) != nil else { return }
        defer { core.endReading() }
        // A dictionary that an earlier fetch has made large would stay so.
        home.prefetchedRows.removeAll(keepingCapacity: home.prefetchedRows.capacity <= 1_024)
        try? RowCache(core).keepRows(of: numbers, home, onlyNeighbours: true)
    }

    func forEachStored(
        _ home: EntityHome, after last: RecordID, through end: RecordID, while goesOn: () -> Bool,
        _ body: (_ object: AnyObject, _ number: RecordID, _ blobs: [UInt64]) throws -> Void
    ) throws {
        guard let entity = home.entity else { return }
        try core.beginReading()
        defer { core.endReading() }
        let snapshot = core.snapshot
        try snapshot.scan(
            entity.table, from: last + 1, through: end, readAhead: RowArena.blockByteCount
        ) { records in
            for record in records {
                core.tally.addRow()
                let view = try core.store.view(record, of: entity)
                let blobs = core.store.blobs(of: view, entity)
                guard let object = ObjectRegistry(core).anyObject(record.id, home), let handle = home.handle(of: object)
                else {
                    continue
                }
                // Not if the context has moved on: it saves while it walks.
                if handle.core.pointee.row == .none, snapshot.sequence == core.snapshot.sequence {
                    handle.core.pointee.row = RowCache(core).keep(view, at: record.location)
                }
                try body(object, record.id, blobs)
                guard goesOn() else { return false }
            }
            // Rows are read once: rows that the walk has passed are released, so that the writing side gets the memory.
            core.forgetRows()
            return true
        }
    }
}
