internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore

/// The rows that a context has loaded: reads them from the store into the context's arena, and finds them there.
struct RowCache {
    let context: ContextCore

    @inline(__always)
    init(_ context: ContextCore) { self.context = context }

    /// Copies a row into the arena.
    func keep(_ view: RowView, at location: Location) -> RowReference {
        if !context.rows.hasRoom(for: Int(view.byteCount)) {
            addRowBlock(minimum: RowArena.footprint(Int(view.byteCount)))
        }
        return context.rows.append(view, location: location)
    }

    /// Puts a fresh block in place as the one to fill.
    @inline(never)
    private func addRowBlock(minimum: Int) {
        let isRefilled = context.lock.withLock { context.rows.refill(minimum: minimum) }
        if isRefilled { return }
        let wanted = max(minimum, RowArena.blockByteCount)
        context.store.log.budget.reserve(wanted, for: .rows)
        context.lock.lock()
        context.rows.addBlock(minimum: wanted)
        context.lock.unlock()
    }

    /// Loads the row of a fault: from the arena if it is still there, else from the store.
    @inline(never)
    func load(_ core: inout ModelCore, _ home: EntityHome) -> RowView? {
        if core.has(.absent) {
            ObjectRegistry(context).reportAbsence(of: core.number, home.entityName)
            return nil
        }
        guard !core.has(.inserted), !core.has(.temporary), !core.has(.alias), let entity = home.entityReference else {
            return nil
        }
        if let row = loadedRow(core.row) { return RowArena.view(row) }
        do {
            return try context.accounted(core.number, home.entity) {
                try entity._withUnsafeGuaranteedRef { try loadFromStore(&core, home, $0) }
            }
        } catch {
            context.noteUnreadable(&core, error)
            return nil
        }
    }

    private func loadFromStore(
        _ core: inout ModelCore, _ home: EntityHome, _ entity: EntityStorage
    ) throws -> RowView? {
        try context.beginReading()
        defer { context.endReading() }
        let number = core.number
        if home.hasPrefetchedRows, let row = try prefetchedRow(of: &core, home, entity) { return RowArena.view(row) }
        if let row = try recentRow(of: &core, home, entity) { return RowArena.view(row) }
        context.tally.addFault()
        if home.isScanning(number), hasFollowers(number, home),
            try readAhead(from: number, home, entity),
            let row = loadedRow(core.row)
        {
            return RowArena.view(row)
        }
        let location = try context.location(of: number, home, in: entity.table)
        guard !location.isAbsent else {
            core.becomeDeletedElsewhere()
            ObjectRegistry(context).reportAbsence(of: number, entity.name)
            return nil
        }
        context.tally.addRow()
        let reference = try readRow(number, at: location, entity)
        core.row = reference
        home.lastLoaded = number
        noteRecent(number, reference, home)
        // Mostly the block that is filled is the one that is read.
        if let row = context.rows.rowInCurrentBlock(reference) { return RowArena.view(row) }
        return loadedRow(reference).map(RowArena.view)
    }

    /// The row of a reference, if it is still in the arena; its block becomes the current one.
    @inline(__always)
    func loadedRow(_ reference: RowReference) -> UnsafeRawPointer? {
        guard reference != .none else { return nil }
        context.lock.lock()
        defer { context.lock.unlock() }
        return context.rows.row(reference)
    }

    /// Reads a row into the arena: directly into the block being filled, or through a buffer if the block has no room
    /// or the record is compressed.
    func readRow(_ number: RecordID, at location: Location, _ entity: EntityStorage) throws -> RowReference {
        if let byteCount = location.byteCount, byteCount <= RowArena.blockByteCount / 8 {
            if context.rows.room(forRecord: byteCount) == nil { addRowBlock(minimum: byteCount) }
            if let room = context.rows.room(forRecord: byteCount),
                case .record(let record, _) = try context.hold.read(
                    number, in: entity.table, at: location, into: room)
            {
                let view = try context.store.view(record, of: entity)
                return context.rows.adopt(view, location: location, of: room) ?? keepCopy(of: view, at: location)
            }
        }
        guard let record = try context.snapshot.read(number, in: entity.table, into: &context.recordBuffer) else {
            return .none
        }
        return keep(try context.store.view(record, of: entity), at: location)
    }

    /// Keeps a row whose bytes lie where a new row may be written.
    private func keepCopy(of view: RowView, at location: Location) -> RowReference {
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: max(Int(view.byteCount), 1), alignment: 8)
        defer { bytes.deallocate() }
        bytes.copyMemory(from: view.base, byteCount: Int(view.byteCount))
        return keep(
            RowView(trusted: bytes, byteCount: Int(view.byteCount), table: view.table, hasExtension: view.hasExtension),
            at: location)
    }

    /// The greatest distance to the next registered object at which reading ahead pays off.
    private static let followerDistanceMax: RecordID = 16

    /// Whether one of the next objects is registered too: code that holds one object at a time needs only its row.
    private func hasFollowers(_ number: RecordID, _ home: EntityHome) -> Bool {
        context.lock.withLock {
            (1...Self.followerDistanceMax).contains { home.identities.address(of: number + $0) != 0 }
        }
    }

    /// Loads the rows of the registered objects from `first` on, about a block of them.
    ///
    /// - Returns: False if nothing was loaded.
    private func readAhead(from first: RecordID, _ home: EntityHome, _ entity: EntityStorage) throws -> Bool {
        guard let type = home.type, type.coreOffset > 0 else { return false }
        var last = first
        var loadedByteCount = 0
        let coreOffset = UInt(type.coreOffset)
        try context.snapshot.scan(entity.table, from: first, through: first + 2_047, readAhead: RowArena.blockByteCount)
        {
            records in
            var place = 0
            while place < records.count {
                let needed = records[place].row.count
                if !context.rows.hasRoom(for: needed) { addRowBlock(minimum: RowArena.footprint(needed)) }
                // Under the lock an object that is in the map has its memory: it leaves the map before that goes.
                context.lock.lock()
                defer { context.lock.unlock() }
                while place < records.count, context.rows.hasRoom(for: records[place].row.count) {
                    let record = records[place]
                    place += 1
                    let address = home.identities.address(of: record.id)
                    guard address != 0, let core = UnsafeMutablePointer<ModelCore>(bitPattern: address + coreOffset),
                        core.pointee.draftPointer == nil, !context.rows.isValid(core.pointee.row)
                    else { continue }
                    context.tally.addRow()
                    let view = try context.store.view(record, of: entity)
                    core.pointee.row = context.rows.append(view, location: record.location)
                    loadedByteCount += RowArena.footprint(Int(view.byteCount))
                    last = record.id
                }
            }
            return loadedByteCount < RowArena.blockByteCount * 3 / 4
        }
        home.lastLoaded = last
        return loadedByteCount > 0
    }

    /// Reads a range of a large value.
    ///
    /// `held` is the value, if it belongs to an object whose deletion was saved.
    func readBlob(
        _ reference: BlobReference, _ held: HeldBlob?, range: Range<UInt64>, into target: UnsafeMutableRawBufferPointer
    ) throws(LogError) {
        if let held {
            try held.read(range, into: target)
        } else {
            try context.beginReading()
            defer { context.endReading() }
            try context.snapshot.readBlob(reference.identifier, range: range, into: target)
        }
        context.tally.addBlobBytes(target.count)
    }

    /// From this size on, a value's size is compared with the stored one before memory is allocated.
    private static let checkedByteCountMin = 1 << 20

    /// Reads a large value for a filter or a sort key.
    func blobBytes(_ reference: BlobReference, _ snapshot: Snapshot) throws -> [UInt8] {
        guard let byteCount = Int(exactly: reference.byteCount) else { return [] }
        let given = GivenBlob.find(reference.identifier)
        if given == nil, byteCount >= Self.checkedByteCountMin { try snapshot.checkSize(of: reference) }
        var bytes = [UInt8](repeating: 0, count: byteCount)
        if let given {
            try bytes.withUnsafeMutableBytes { target in
                try given.readBlob(reference, nil, range: 0..<reference.byteCount, into: target)
            }
            return bytes
        }
        try bytes.withUnsafeMutableBytes { target in
            try snapshot.readBlob(reference.identifier, range: 0..<reference.byteCount, into: target)
        }
        context.tally.addBlobBytes(byteCount)
        return bytes
    }

    func rowIsLoaded(_ core: UnsafeMutablePointer<ModelCore>) -> Bool {
        context.lock.lock()
        defer { context.lock.unlock() }
        return context.rows.isValid(core.pointee.row)
    }
}
