internal import FaultlineLog
internal import FaultlineStore

// Loads rows before their objects are used. No object is made: a row is kept by number, and an object that is made for
// it later finds it there.

extension ContextCore {
    /// When more rows than this are kept for an entity, those kept for earlier fetches are forgotten.
    private static var keptRowsMax: Int { 1 << 16 }
    /// Rows at most this far apart are read together, including those between them.
    private static var gapMax: RecordID { 16 }

    /// Loads the prefetched rows of a fetch, in addition to its objects.
    func prefetch<T: PersistentModel>(_ wanted: Prefetching, of objects: [T], _ home: EntityHome) throws {
        let handles = objects.map { ObjectHandle($0) }
        let stored = handles.filter { !$0.core.pointee.has(.temporary) }
        try prefetch(wanted, ofStored: stored.map { $0.core.pointee.number }, home)
        // An unsaved object's members are in memory; the objects it refers to may not be.
        for path in wanted.paths {
            guard let slot = path.first, case .toOne(let relationship)? = home.entity?.slots[slot] else { continue }
            let targets = handles.filter { $0.core.pointee.has(.temporary) }.map { reference(of: $0, slot) }
            try follow(
                path.dropFirst(), from: targets.filter { !$0.isTemporary }.map(\.number),
                homes[relationship.destination])
        }
    }

    /// The same for stored objects by number, which may not exist as objects.
    func prefetch(_ wanted: Prefetching, ofStored numbers: [RecordID], _ home: EntityHome) throws {
        if wanted.loadsRows { try keepRows(of: numbers, home) }
        for path in wanted.paths where !path.isEmpty {
            guard let destination = destination(of: path[0], home) else { continue }
            try follow(path.dropFirst(), from: try related(path[0], of: numbers, home), destination)
        }
    }

    /// Loads the rows of objects, and of the objects at the end of a path from them.
    private func follow(_ path: ArraySlice<Int>, from numbers: [RecordID], _ home: EntityHome) throws {
        try keepRows(of: numbers, home)
        guard let slot = path.first, let destination = destination(of: slot, home) else { return }
        try follow(path.dropFirst(), from: try related(slot, of: numbers, home), destination)
    }

    private func destination(of slot: Int, _ home: EntityHome) -> EntityHome? {
        switch home.entity?.slots[slot] {
        case .toOne(let relationship): homes[relationship.destination]
        case .toMany(let relationship): homes[relationship.destination]
        default: nil
        }
    }

    /// The numbers of the stored objects that a relationship of some objects leads to.
    private func related(_ slot: Int, of numbers: [RecordID], _ home: EntityHome) throws -> [RecordID] {
        switch home.entity?.slots[slot] {
        case .toOne:
            try keepRows(of: numbers, home)
            let targets = numbers.compactMap { number -> RecordID? in
                let reference = ObjectReference(bits: storedTarget(slot, of: number, home))
                return reference.isTemporary || reference.isNil ? nil : reference.number
            }
            return Array(Set(targets))
        case .toMany(let relationship):
            var members: Set<RecordID> = []
            for number in Set(numbers) { members.formUnion(try storedMembers(of: number, relationship)) }
            return Array(members)
        default: return []
        }
    }

    /// The reference in a to-one slot of an object in memory or of a kept row; 0 for none.
    private func storedTarget(_ slot: Int, of number: RecordID, _ home: EntityHome) -> UInt64 {
        if let object = registeredObject(number, home), let handle = handle(of: object, home) {
            if let draft = handle.core.pointee.draft { return draft.toOne(slot) }
            if let row = loadedRow(handle.core.pointee.row) { return RowArena.view(row).toOne(slot) }
        }
        guard let row = home.prefetchedRows[number].flatMap(loadedRow) else { return 0 }
        return RowArena.view(row).toOne(slot)
    }

    // MARK: Rows by number

    /// Loads the rows of stored objects that are not in memory, each once.
    func keepRows(of numbers: [RecordID], _ home: EntityHome) throws {
        guard let entity = home.entity else { return }
        if home.prefetchedRows.count > Self.keptRowsMax { home.prefetchedRows.removeAll() }
        let missing = try Set(numbers).filter { try !isInMemory($0, home, entity) }.sorted()
        var start = 0
        while start < missing.count {
            var end = start + 1
            while end < missing.count, missing[end] - missing[end - 1] <= Self.gapMax { end += 1 }
            var place = start
            try snapshot.scan(
                entity.table, from: missing[start], through: missing[end - 1], readAhead: RowArena.blockByteCount
            ) { records in
                for record in records {
                    tally.addRow()
                    while place < end, missing[place] < record.id { place += 1 }
                    guard place < end, missing[place] == record.id else { continue }
                    home.prefetchedRows[record.id] = keep(try store.view(record, of: entity), at: record.location)
                }
                return true
            }
            start = end
        }
    }

    /// Whether an object's row is in memory.
    private func isInMemory(
        _ number: RecordID, _ home: EntityHome, _ entity: EntityStorage
    ) throws(LogError) -> Bool {
        if let row = home.prefetchedRows[number].flatMap(loadedRow),
            RowArena.location(row) == (try snapshot.location(of: number, in: entity.table))
        {
            return true
        }
        guard let object = registeredObject(number, home), let handle = handle(of: object, home) else { return false }
        return handle.core.pointee.draftPointer != nil || loadedRow(handle.core.pointee.row) != nil
    }

    /// The row kept for an object, if it is still in memory and still the newest.
    func prefetchedRow(
        of core: inout ModelCore, _ home: EntityHome, _ entity: EntityStorage
    ) throws(LogError) -> UnsafeRawPointer? {
        guard !home.prefetchedRows.isEmpty, let reference = home.prefetchedRows[core.number] else { return nil }
        return try use(reference, for: &core, home, entity)
    }

    /// The row that a fault of the same object loaded before, if it is still in memory and still the newest.
    @inline(__always)
    func recentRow(
        of core: inout ModelCore, _ home: EntityHome, _ entity: EntityStorage
    ) throws(LogError) -> UnsafeRawPointer? {
        let reference = home.recentRows.row(of: core.number)
        guard reference != .none else { return nil }
        return try use(reference, for: &core, home, entity)
    }

    /// Uses a row that was loaded before, unless it is out of memory or has been replaced.
    private func use(
        _ reference: RowReference, for core: inout ModelCore, _ home: EntityHome, _ entity: EntityStorage
    ) throws(LogError) -> UnsafeRawPointer? {
        guard let row = loadedRow(reference),
            RowArena.location(row) == (try snapshot.location(of: core.number, in: entity.table))
        else { return nil }
        core.row = reference
        home.lastLoaded = core.number
        return row
    }
}
