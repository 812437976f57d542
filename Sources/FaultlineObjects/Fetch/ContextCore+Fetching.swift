internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore
internal import Foundation

extension ContextCore {
    // MARK: Fetch

    func fetch<T: PersistentModel>(_ source: QuerySource<T>) throws -> [T] {
        try beginReading()
        defer { endReading() }
        moveToNewest()
        let query = try source.prepare(self)
        let objects = try fetchHere(query, source)
        if !query.prefetching.isEmpty { try prefetch(query.prefetching, of: objects, query.home) }
        return objects
    }

    /// Fetches from the state that the context is at.
    private func fetchHere<T: PersistentModel>(_ query: Query<T>, _ source: QuerySource<T>) throws -> [T] {
        if query.isEverything { return try fetchAll(query) }
        if isMisledByChanges(query) {
            return try storedNumbers(source).map { object($0, query.home, as: T.self) }
        }
        var found = try matches(query, keepingRows: true)
        if query.order == nil {
            var objects = found.objects(query, self)
            TrackingWord.withoutTracking { objects.sort(using: query.descriptor.sortBy) }
            return query.window(objects)
        }
        found.sort()
        found.cut(offset: query.descriptor.fetchOffset, limit: query.descriptor.fetchLimit)
        return found.objects(query, self)
    }

    func fetchCount<T: PersistentModel>(_ source: QuerySource<T>) throws -> Int {
        try beginReading()
        defer { endReading() }
        moveToNewest()
        let query = try source.prepare(self)
        let descriptor = query.descriptor
        let count: Int
        if query.isWanted == nil {
            var all = snapshot.recordCount(of: query.entity.table)
            if descriptor.includePendingChanges { all += pendingBalance(query.home) }
            count = all
        } else if let fast = try countOnBytes(query) {
            count = fast
        } else if isMisledByChanges(query) {
            return try storedNumbers(source).count
        } else {
            count = try matches(query, keepingRows: false).count
        }
        let rest = max(0, count - (descriptor.fetchOffset ?? 0))
        guard let limit = descriptor.fetchLimit, limit > 0 else { return rest }
        return min(rest, limit)
    }

    func fetchIdentifiers<T: PersistentModel>(_ source: QuerySource<T>) throws -> [PersistentIdentifier] {
        try beginReading()
        defer { endReading() }
        moveToNewest()
        let query = try source.prepare(self)
        let descriptor = query.descriptor
        guard query.order != nil, !isMisledByChanges(query) else {
            return try fetchHere(query, source).map(\.persistentModelID)
        }
        var found = try matches(query, keepingRows: false)
        found.sort()
        found.cut(offset: descriptor.fetchOffset, limit: descriptor.fetchLimit)
        return found.identifiers(query, self)
    }

    func enumerate<T: PersistentModel>(
        _ source: QuerySource<T>, batchSize: Int, allowEscapingMutations: Bool, block: (T) throws -> Void
    ) throws {
        try beginReading()
        defer { endReading() }
        moveToNewest()
        let query = try source.prepare(self)
        let descriptor = query.descriptor
        let batch = max(1, min(batchSize, 1 << 20))
        func check() throws {
            guard !allowEscapingMutations, hasChanges else { return }
            throw SwiftDataError.includePendingChangesWithBatchSize.explained(
                "An object was changed and not saved while a fetch was being walked. Save within the block, or pass allowEscapingMutations: true."
            )
        }
        if !hasChanges, query.isEverything || query.order?.isEmpty == true, query.lowered.isExact,
            query.lowered.candidates == nil
        {
            try walk(query, batch, check, block)
            return
        }
        if isMisledByChanges(query) {
            for number in try storedNumbers(source) { try block(object(number, query.home, as: T.self)) }
            return
        }
        var found = try matches(query, keepingRows: false)
        if query.order == nil {
            var objects = found.objects(query, self)
            TrackingWord.withoutTracking { objects.sort(using: descriptor.sortBy) }
            for object in query.window(objects) { try block(object) }
            return
        }
        found.sort()
        found.cut(offset: descriptor.fetchOffset, limit: descriptor.fetchLimit)
        let hadChanges = hasChanges
        var start = 0
        while start < found.count {
            let end = min(start + batch, found.count)
            let objects = found.slice(start..<end).objects(query, self)
            if !query.prefetching.isEmpty { try prefetch(query.prefetching, of: objects, query.home) }
            for object in objects { try block(object) }
            if !hadChanges { try check() }
            start = end
        }
    }

    /// Walks rows in the order of creation: reads ahead, and gives each object its row along.
    private func walk<T: PersistentModel>(
        _ query: Query<T>, _ batch: Int, _ check: () throws -> Void, _ block: (T) throws -> Void
    ) throws {
        let snapshot = snapshot
        let entity = query.entity
        var programs = ProgramCache(query.lowered.filter, entity, self, snapshot)
        var toSkip = query.descriptor.fetchOffset ?? 0
        var left = query.descriptor.fetchLimit.flatMap { $0 > 0 ? $0 : nil } ?? Int.max
        var sinceCheck = 0
        try withUnsafeTemporaryAllocation(of: RecordID.self, capacity: 256) { numbers in
            try withUnsafeTemporaryAllocation(of: RowReference.self, capacity: 256) { references in
                try withUnsafeTemporaryAllocation(of: T.self, capacity: 256) { objects in
                    try snapshot.scan(
                        entity.table, from: 1, through: ModelCore.numberMask, readAhead: RowArena.blockByteCount
                    ) { records in
                        var count = 0
                        for record in records {
                            tally.addRow()
                            let view = try store.view(record, of: entity)
                            guard try programs.matches(view, record.layout) else { continue }
                            if toSkip > 0 {
                                toSkip -= 1
                                continue
                            }
                            guard left > 0 else { break }
                            left -= 1
                            numbers[count] = record.id
                            references[count] = keep(view, at: record.location)
                            count += 1
                        }
                        guard count > 0, let first = objects.baseAddress else { return left > 0 }
                        if !query.prefetching.isEmpty {
                            for place in 0..<count {
                                query.home.prefetchedRows[numbers[place]] = references[place]
                            }
                            try prefetch(query.prefetching, ofStored: Array(numbers[..<count]), query.home)
                        }
                        appendObjects(
                            UnsafeBufferPointer(rebasing: numbers[..<count]), rows: references.baseAddress, query.home,
                            to: first)
                        var given = 0
                        defer { (first + given).deinitialize(count: count - given) }
                        while given < count {
                            let object = (first + given).move()
                            given += 1
                            try block(object)
                            sinceCheck += 1
                            if sinceCheck == batch {
                                sinceCheck = 0
                                try check()
                            }
                        }
                        return left > 0
                    }
                }
            }
        }
        try query.checkTargets()
        try check()
    }

    // MARK: Without unsaved changes

    /// Whether a query for what is stored would be decided by objects that may show something else.
    private func isMisledByChanges<T: PersistentModel>(_ query: Query<T>) -> Bool {
        !query.descriptor.includePendingChanges && hasChanges && !(query.lowered.isExact && query.order != nil)
    }

    /// The objects that satisfy a query as they are stored, ordered and cut: found by a context of its own, whose
    /// objects have no changes.
    private func storedNumbers<T: PersistentModel>(_ source: QuerySource<T>) throws -> [RecordID] {
        let unchanged = ContextCore(store: store, types: homes.compactMap(\.type), isReadOnly: true)
        try unchanged.beginReading()
        defer { unchanged.endReading() }
        unchanged.moveTo(snapshot)
        unchanged.errorHandler = errorHandler
        let found = try unchanged.fetchHere(try source.prepare(unchanged), source)
        tally.add(unchanged.counters)
        return found.map { $0._$coreAddress().pointee.number }
    }

    /// Numbers of the stored objects that a query finds, ordered and cut; no object is made where the stored bytes tell.
    func storedNumbers<T: PersistentModel>(_ query: Query<T>, _ source: QuerySource<T>) throws -> [RecordID] {
        if isMisledByChanges(query) { return try storedNumbers(source) }
        if query.isEverything { return try allNumbers(query) }
        guard query.order != nil else {
            return try fetchHere(query, source).map { $0._$coreAddress().pointee.number }
        }
        var found = try matches(query, keepingRows: false)
        found.sort()
        found.cut(offset: query.descriptor.fetchOffset, limit: query.descriptor.fetchLimit)
        return found.numbers
    }

    private func allNumbers<T: PersistentModel>(_ query: Query<T>) throws -> [RecordID] {
        var numbers: [RecordID] = []
        let toSkip = max(query.descriptor.fetchOffset ?? 0, 0)
        let end = query.descriptor.fetchLimit.flatMap { $0 > 0 ? toSkip + $0 : nil } ?? .max
        var place = 0
        try snapshot.forEachPage(of: query.entity.table, from: 1) { first, entries in
            for entry in 0..<336 where entries.load(fromByteOffset: entry * 12, as: UInt32.self) != 0 {
                if place >= toSkip, place < end { numbers.append(first + RecordID(entry)) }
                place += 1
            }
            return place < end
        }
        return numbers
    }

    // MARK: Everything

    /// All objects of an entity: faults made from the pages of the location table; no row is read.
    private func fetchAll<T: PersistentModel>(_ query: Query<T>) throws -> [T] {
        let descriptor = query.descriptor
        let excluded = descriptor.includePendingChanges ? deletedNumbers(query.home) : []
        let pending = descriptor.includePendingChanges ? insertedObjects(query.home) : []
        let stored = snapshot.recordCount(of: query.entity.table)
        var toSkip = descriptor.fetchOffset ?? 0
        var left = descriptor.fetchLimit.flatMap { $0 > 0 ? $0 : nil } ?? Int.max
        let capacity = min(stored + pending.count, left)
        let snapshot = snapshot
        return try Array(unsafeUninitializedCapacity: capacity) { buffer, initialized in
            guard let target = buffer.baseAddress else { return }
            try withUnsafeTemporaryAllocation(of: RecordID.self, capacity: 336) { numbers in
                try snapshot.forEachPage(of: query.entity.table, from: 1) { first, entries in
                    var count = 0
                    for place in 0..<336 where entries.load(fromByteOffset: place * 12, as: UInt32.self) != 0 {
                        let number = first + RecordID(place)
                        if !excluded.isEmpty, excluded.contains(number) { continue }
                        if toSkip > 0 {
                            toSkip -= 1
                            continue
                        }
                        guard left > 0, initialized + count < capacity else { break }
                        left -= 1
                        numbers[count] = number
                        count += 1
                    }
                    if count > 0 {
                        appendObjects(
                            UnsafeBufferPointer(rebasing: numbers[..<count]), rows: nil, query.home,
                            to: target + initialized)
                        initialized += count
                    }
                    return left > 0
                }
            }
            for handle in pending {
                if toSkip > 0 {
                    toSkip -= 1
                    continue
                }
                guard left > 0, initialized < capacity, let object = handle.object as? T else { break }
                left -= 1
                (target + initialized).initialize(to: object)
                initialized += 1
            }
        }
    }

    // MARK: Matching

    /// How many rows satisfy a query that the stored bytes answer alone; nil if unsaved changes or the predicate forbid
    /// it.
    private func countOnBytes<T: PersistentModel>(_ query: Query<T>) throws -> Int? {
        guard query.lowered.isExact, query.lowered.candidates == nil, query.uniqueKey == nil, query.memberOwner == nil,
            !query.descriptor.includePendingChanges || !hasPending(query.home)
        else { return nil }
        let (matches, rowsRead) = try RowCount(query.lowered.filter, query.entity, store, snapshot).count()
        tally.addRows(rowsRead)
        return matches
    }

    /// The objects that satisfy a query, not yet ordered: stored ones as they are stored, changed and new ones as they
    /// are here.
    private func matches<T: PersistentModel>(_ query: Query<T>, keepingRows: Bool) throws -> Matches<T> {
        let entity = query.entity
        let home = query.home
        let countsPending = query.descriptor.includePendingChanges
        var skipped = countsPending ? deletedNumbers(home) : []
        var pending: [ObjectHandle] = []
        if countsPending {
            for handle in changed where handle.core.pointee.home.toOpaque() == Unmanaged.passUnretained(home).toOpaque()
            {
                skipped.insert(handle.core.pointee.number)
                if !handle.core.pointee.has(.deleted) { pending.append(handle) }
            }
            pending.append(contentsOf: insertedObjects(home))
        }
        var found = Matches<T>(order: query.order ?? [])
        var programs = ProgramCache(query.lowered.filter, entity, self, snapshot)
        let isExact = query.lowered.isExact
        let isWanted = query.isWanted

        func take(_ record: RecordView) throws {
            tally.addRow()
            if !skipped.isEmpty, skipped.contains(record.id) { return }
            let view = try store.view(record, of: entity)
            guard try programs.matches(view, record.layout) else { return }
            var object: T?
            if !isExact, let isWanted {
                // The stored bytes cannot decide: one object is made, asked, and let go again unless it is wanted.
                let candidate = self.object(record.id, home, as: T.self)
                let core = candidate._$coreAddress()
                if core.pointee.draftPointer == nil, !rowIsLoaded(core) {
                    core.pointee.row = keep(view, at: record.location)
                }
                guard try TrackingWord.withoutTracking({ try isWanted(candidate) }) else { return }
                if keepingRows { object = candidate }
            }
            let reference = keepingRows && object == nil ? keep(view, at: record.location) : .none
            try found.append(record.id, reference, object, view) { try blobBytes($0, snapshot) }
        }

        if let candidates = query.lowered.candidates {
            try read(candidates.sorted(), entity, take)
        } else if let (index, value) = query.uniqueKey {
            if let number = try uniqueHolder(index, value, entity) { try read([number], entity, take) }
        } else if let (index, owner) = query.memberOwner {
            try read(try snapshot.members(of: owner, in: index).sorted(), entity, take)
        } else {
            try snapshot.scan(
                entity.table, from: 1, through: ModelCore.numberMask, readAhead: RowArena.blockByteCount
            ) { records in
                for record in records { try take(record) }
                return true
            }
        }
        try query.checkTargets()
        for handle in pending {
            guard let object = handle.object as? T else { continue }
            if let isWanted, try !TrackingWord.withoutTracking({ try isWanted(object) }) { continue }
            guard let draft = handle.core.pointee.draft else { continue }
            try found.append(object, draft) { try blobBytes($0, snapshot) }
        }
        return found
    }

    /// A value out of the row, for a filter or a sort key.
    func blobBytes(_ reference: BlobReference, _ snapshot: Snapshot) throws -> [UInt8] {
        guard let byteCount = Int(exactly: reference.byteCount) else { return [] }
        var bytes = [UInt8](repeating: 0, count: byteCount)
        try bytes.withUnsafeMutableBytes { target in
            try snapshot.readBlob(reference.identifier, range: 0..<reference.byteCount, into: target)
        }
        tally.addBlobBytes(byteCount)
        return bytes
    }

    private func rowIsLoaded(_ core: UnsafeMutablePointer<ModelCore>) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        return rows.isValid(core.pointee.row)
    }

    private func read(
        _ numbers: [RecordID], _ entity: EntityStorage, _ take: (RecordView) throws -> Void
    ) throws {
        var buffer = RecordBuffer()
        for number in numbers where number != 0 && number <= ModelCore.numberMask {
            if let record = try snapshot.read(number, in: entity.table, into: &buffer) { try take(record) }
        }
    }

    /// The object that holds a value of a unique attribute.
    private func uniqueHolder(_ index: UniqueIndex, _ value: RowValue, _ entity: EntityStorage) throws -> RecordID? {
        var key = KeyWriter()
        guard key.append(value, as: entity.layout.columns[index.slots[0]].kind) else { return nil }
        return try key.withBytes { (bytes) throws(LogError) in try snapshot.firstID(in: index.definition, key: bytes) }
    }

    // MARK: Unsaved changes

    /// The objects that a to-one slot may lead to; nil where it cannot lead to one that is gone.
    func targets(of entity: EntityStorage, _ slot: Int, includingPendingChanges: Bool) -> ReferenceTargets? {
        guard case .toOne(let relationship) = entity.slots[slot] else { return nil }
        let destination = homes[relationship.destination]
        return destination.entity.flatMap {
            ReferenceTargets(
                in: $0.table, of: snapshot, without: includingPendingChanges ? deletedReferences(destination) : [])
        }
    }

    /// What to-one slots hold that lead to objects whose deletion is not saved yet.
    private func deletedReferences(_ home: EntityHome) -> Set<RecordID> {
        var references = deletedNumbers(home)
        guard hasDeletedInserts else { return references }
        let wanted = Unmanaged.passUnretained(home).toOpaque()
        for handle in inserted
        where handle.core.pointee.has(.deleted) && handle.core.pointee.home.toOpaque() == wanted {
            references.insert(handle.reference.bits)
        }
        return references
    }

    private func deletedNumbers(_ home: EntityHome) -> Set<RecordID> {
        var numbers: Set<RecordID> = []
        let wanted = Unmanaged.passUnretained(home).toOpaque()
        for handle in deleted where handle.core.pointee.home.toOpaque() == wanted {
            numbers.insert(handle.core.pointee.number)
        }
        return numbers
    }

    private func insertedObjects(_ home: EntityHome) -> [ObjectHandle] {
        let wanted = Unmanaged.passUnretained(home).toOpaque()
        return inserted.filter { $0.core.pointee.home.toOpaque() == wanted && !$0.core.pointee.has(.deleted) }
    }

    private func hasPending(_ home: EntityHome) -> Bool {
        let wanted = Unmanaged.passUnretained(home).toOpaque()
        func concerns(_ handle: ObjectHandle) -> Bool { handle.core.pointee.home.toOpaque() == wanted }
        return inserted.contains(where: concerns) || changed.contains(where: concerns)
            || deleted.contains(where: concerns)
    }

    private func pendingBalance(_ home: EntityHome) -> Int {
        insertedObjects(home).count - deletedNumbers(home).count
    }
}

extension Query {
    /// Offset and limit, applied to objects that were ordered by themselves.
    func window(_ objects: [T]) -> [T] {
        let rest = objects.dropFirst(max(0, descriptor.fetchOffset ?? 0))
        guard let limit = descriptor.fetchLimit, limit > 0 else { return Array(rest) }
        return Array(rest.prefix(limit))
    }
}
