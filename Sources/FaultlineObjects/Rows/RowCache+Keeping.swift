internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore

// Rows that are kept by number, for objects that may not exist yet.

extension RowCache {
    /// When more rows than this are kept for an entity, those kept for earlier fetches are forgotten.
    private static var keptRowsMax: Int { 1 << 16 }
    /// Rows at most this far apart are read together, including those between them.
    private static var gapMax: RecordID { 16 }

    /// Loads the rows of stored objects that are not in memory, each once.
    ///
    /// - Parameters:
    ///   - numbers: The objects.
    ///   - home: Their entity.
    ///   - onlyNeighbours: Whether rows that no other is read together with are left to their first use.
    /// - Throws: The store's error if a row cannot be read.
    func keepRows(of numbers: [RecordID], _ home: EntityHome, onlyNeighbours: Bool = false) throws {
        guard let entity = home.entity else { return }
        if home.prefetchedRows.count > Self.keptRowsMax { home.prefetchedRows.removeAll() }
        let missing = try Set(numbers).filter { try !isInMemory($0, home, entity) }.sorted()
        var start = 0
        while start < missing.count {
            var end = start + 1
            while end < missing.count, missing[end] - missing[end - 1] <= Self.gapMax { end += 1 }
            if onlyNeighbours, end == start + 1 {
                start = end
                continue
            }
            var place = start
            try context.snapshot.scan(
                entity.table, from: missing[start], through: missing[end - 1], readAhead: RowArena.blockByteCount
            ) { records in
                for record in records {
                    context.tally.addRow()
                    while place < end, missing[place] < record.id { place += 1 }
                    guard place < end, missing[place] == record.id else { continue }
                    home.prefetchedRows[record.id] = keep(
                        try context.store.view(record, of: entity), at: record.location)
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
            RowArena.location(row) == (try context.location(of: number, in: entity.table))
        {
            return true
        }
        guard let handle = ObjectRegistry(context).registeredHandle(number, home) else { return false }
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
        guard let (row, reference) = recentRow(core.number, home),
            RowArena.location(row) == (try context.location(of: core.number, home, in: entity.table))
        else { return nil }
        core.row = reference
        home.lastLoaded = core.number
        return row
    }

    /// The row that was recorded for an object, if it is still in memory; it may have been replaced since.
    @inline(__always)
    private func recentRow(
        _ number: RecordID, _ home: EntityHome
    ) -> (row: UnsafeRawPointer, reference: RowReference)? {
        context.lock.lock()
        defer { context.lock.unlock() }
        let reference = home.recentRows.row(of: number)
        return context.rows.row(reference).map { ($0, reference) }
    }

    /// Records that a row was loaded, so that it is found when the object is gone.
    @inline(__always)
    func noteRecent(_ number: RecordID, _ reference: RowReference, _ home: EntityHome) {
        context.lock.lock()
        let isFull = home.recentRows.note(number, reference)
        context.lock.unlock()
        if isFull { growRecentRows(home) }
    }

    @inline(never)
    private func growRecentRows(_ home: EntityHome) {
        let growth = context.lock.withLock { home.recentRows.growth(whereRowsTake: context.rows.byteCount) }
        guard let growth else { return }
        // This may take rows away, and tables of rows with them.
        context.store.log.budget.reserve(growth, for: .rows)
        let isStillWanted = context.lock.withLock {
            guard home.recentRows.growth(whereRowsTake: context.rows.byteCount) == growth else { return false }
            home.recentRows.grow()
            return true
        }
        if !isStillWanted { context.store.log.budget.release(growth, for: .rows) }
    }

    /// Uses a row that was loaded before, unless it is out of memory or has been replaced.
    private func use(
        _ reference: RowReference, for core: inout ModelCore, _ home: EntityHome, _ entity: EntityStorage
    ) throws(LogError) -> UnsafeRawPointer? {
        guard let row = loadedRow(reference),
            RowArena.location(row) == (try context.location(of: core.number, in: entity.table))
        else { return nil }
        core.row = reference
        home.lastLoaded = core.number
        return row
    }

    // MARK: Rows of searches

    /// The newest row of an object, with its place in memory: a look-up may have left it there, else it is read; nil if
    /// there is none.
    ///
    /// It is certain to stay until the next row is loaded.
    func rowInMemory(
        _ number: RecordID, _ home: EntityHome, _ entity: EntityStorage
    ) throws -> (row: UnsafeRawPointer, reference: RowReference)? {
        let location = try context.location(of: number, in: entity.table)
        guard !location.isAbsent else { return nil }
        if let recent = recentRow(number, home), RowArena.location(recent.row) == location { return recent }
        context.tally.addRow()
        let reference = try readRow(number, at: location, entity)
        guard let row = context.rows.rowInCurrentBlock(reference) ?? loadedRow(reference) else { return nil }
        noteRecent(number, reference, home)
        return (row, reference)
    }

    /// The newest row of an object: from memory if a look-up has left it there, else read by a window of the context's
    /// snapshot; nil if there is none.
    ///
    /// If objects are evaluated, which may load other rows, it must be read: a row in memory is certain to stay only
    /// until the next is loaded.
    func foundRow(
        _ number: RecordID, _ home: EntityHome, _ entity: EntityStorage, asksObjects: Bool,
        by window: inout RecordWindow
    ) throws -> FoundRow? {
        if !asksObjects, let (row, reference) = recentRow(number, home),
            RowArena.location(row) == (try context.location(of: number, in: entity.table))
        {
            return FoundRow(number, row, reference)
        }
        guard let record = try window.read(number, in: entity.table) else { return nil }
        context.tally.addRow()
        return FoundRow(record, try context.store.view(record, of: entity), isSingle: true)
    }

    /// Keeps a row in memory and returns its place; a row that was looked up by its number is recorded.
    func keep(_ found: FoundRow, _ home: EntityHome) -> RowReference {
        if found.reference != .none { return found.reference }
        let reference = keep(found.view, at: found.location)
        if found.isSingle { noteRecent(found.number, reference, home) }
        return reference
    }
}
