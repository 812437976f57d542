internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore
internal import Foundation

/// Runs the fetches of a context: objects, counts, identifiers, batches and walks.
///
/// Makes the objects that are shown, and leaves the search for rows to `RowSearch`. Holds nothing but the context: made
/// for one call.
struct FetchRunner {
    let context: ContextCore

    @inline(__always)
    init(_ context: ContextCore) { self.context = context }

    @inline(__always) var search: RowSearch { RowSearch(context) }

    // MARK: Fetch

    func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
        if let link = context.link { return try link.fetch(descriptor) }
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
        return try fetchByUniqueValue(descriptor) ?? fetchFromNewest(QuerySource(descriptor))
    }

    func fetch<T: PersistentModel>(_ source: QuerySource<T>) throws -> [T] {
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
        return try fetchFromNewest(source)
    }

    private func fetchFromNewest<T: PersistentModel>(_ source: QuerySource<T>) throws -> [T] {
        let query = try source.prepare(context)
        let objects = try fetchHere(query, source)
        if !query.prefetching.isEmpty {
            try RowPrefetcher(context).prefetch(query.prefetching, of: objects, query.home)
        }
        return objects
    }

    /// Fetches from the context's current state.
    func fetchHere<T: PersistentModel>(_ query: Query<T>, _ source: QuerySource<T>) throws -> [T] {
        if query.isEverything { return try fetchAll(query) }
        if let found = try fetchUnique(query) { return found }
        if isMisledByChanges(query) {
            return try storedNumbers(source).map { ObjectRegistry(context).object($0, query.home, as: T.self) }
        }
        // Far after the beginning, most rows that are found are not shown.
        let showsFirst = query.descriptor.fetchOffset ?? 0 <= Self.offsetOfKeptRowsMax || query.reach == nil
        var found = try search.matches(query, keepingRows: showsFirst)
        if query.order == nil {
            var objects = found.objects(query, context)
            TrackingWord.withoutTracking { objects.sort(using: query.descriptor.sortBy) }
            return objects.window(of: query.descriptor)
        }
        found.sortWindow(offset: query.descriptor.fetchOffset, limit: query.descriptor.fetchLimit)
        if !showsFirst, found.count <= Self.offsetOfKeptRowsMax {
            try RowCache(context).keepRows(of: found.numbers.filter { $0 != 0 }, query.home)
        }
        return found.objects(query, context)
    }

    /// How many rows a fetch keeps before its window, so that the window's rows need not be read again.
    private static let offsetOfKeptRowsMax = 4_096

    func count<T: PersistentModel>(_ source: QuerySource<T>) throws -> Int {
        if let link = context.link, let descriptor = source.descriptor, let count = try link.count(descriptor) {
            return count
        }
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
        let query = try source.prepare(context)
        let descriptor = query.descriptor
        let count: Int
        if query.isWanted == nil {
            var all = context.snapshot.recordCount(of: query.entity.table)
            if descriptor.includePendingChanges { all += context.pending.balance(query.home) }
            count = all
        } else if let fast = try search.countOnBytes(query) {
            count = fast
        } else if isMisledByChanges(query) {
            return try storedNumbers(source).count
        } else {
            count = try search.matches(query, keepingRows: false).count
        }
        let rest = max(0, count - (descriptor.fetchOffset ?? 0))
        guard let limit = descriptor.fetchLimit, limit > 0 else { return rest }
        return min(rest, limit)
    }

    func identifiers<T: PersistentModel>(_ source: QuerySource<T>) throws -> [PersistentIdentifier] {
        if let link = context.link, let descriptor = source.descriptor, let found = try link.identifiers(descriptor) {
            return found
        }
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
        let query = try source.prepare(context)
        let descriptor = query.descriptor
        if query.isEverything, !descriptor.includePendingChanges || !context.pending.hasPending(query.home) {
            let storeID = context.store.log.storeID
            return try allNumbers(query).map {
                PersistentIdentifier(storeID: storeID, entityName: query.entity.name, number: $0)
            }
        }
        guard query.order != nil, !query.isEverything, !isMisledByChanges(query) else {
            return try fetchHere(query, source).map(\.persistentModelID)
        }
        var found = try search.matches(query, keepingRows: false)
        found.sortWindow(offset: descriptor.fetchOffset, limit: descriptor.fetchLimit)
        return found.identifiers(query, context)
    }

    // MARK: Without unsaved changes

    /// Whether a query for stored values would be evaluated on objects that may show unsaved ones.
    func isMisledByChanges<T: PersistentModel>(_ query: Query<T>) -> Bool {
        !query.descriptor.includePendingChanges && context.hasChanges && !(query.lowered.isExact && query.order != nil)
    }

    /// The objects whose stored values satisfy a query, ordered and cut: found by a context of its own, whose objects
    /// have no changes.
    func storedNumbers<T: PersistentModel>(_ source: QuerySource<T>) throws -> [RecordID] {
        let unchanged = context.contextOfStored()
        try unchanged.beginReading()
        defer { unchanged.endReading() }
        unchanged.moveTo(context.snapshot)
        let found = try FetchRunner(unchanged).fetchHere(try source.prepare(unchanged), source)
        context.tally.add(unchanged.counters)
        return found.map { $0._$coreAddress().pointee.number }
    }

    /// Numbers of the stored objects that a query finds, ordered and cut; no object is made if the stored bytes can
    /// answer.
    func storedNumbers<T: PersistentModel>(_ query: Query<T>, _ source: QuerySource<T>) throws -> [RecordID] {
        if isMisledByChanges(query) { return try storedNumbers(source) }
        if query.isEverything { return try allNumbers(query) }
        guard query.order != nil else {
            return try fetchHere(query, source).map { $0._$coreAddress().pointee.number }
        }
        var found = try search.matches(query, keepingRows: false)
        found.sortWindow(offset: query.descriptor.fetchOffset, limit: query.descriptor.fetchLimit)
        return found.numbers
    }

    private func allNumbers<T: PersistentModel>(_ query: Query<T>) throws -> [RecordID] {
        var numbers: [RecordID] = []
        let toSkip = max(query.descriptor.fetchOffset ?? 0, 0)
        let limit = query.descriptor.fetchLimit.flatMap { $0 > 0 ? $0 : nil } ?? .max
        let end = toSkip.addingReportingOverflow(limit).overflow ? .max : toSkip + limit
        var place = 0
        try context.snapshot.forEachPage(of: query.entity.table, from: 1) { first, entries in
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
        let excluded = descriptor.includePendingChanges ? context.pending.deletedNumbers(query.home) : []
        let pending = descriptor.includePendingChanges ? context.pending.insertedObjects(query.home) : []
        let stored = context.snapshot.recordCount(of: query.entity.table)
        var toSkip = descriptor.fetchOffset ?? 0
        var left = descriptor.fetchLimit.flatMap { $0 > 0 ? $0 : nil } ?? Int.max
        let capacity = min(stored + pending.count, left)
        let snapshot = context.snapshot
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
                        ObjectRegistry(context).appendObjects(
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
}

extension Array {
    /// Applies offset and limit to elements that are already ordered.
    func window(offset: Int?, limit: Int?) -> [Element] {
        let rest = dropFirst(Swift.max(0, offset ?? 0))
        guard let limit, limit > 0 else { return Array(rest) }
        return Array(rest.prefix(limit))
    }

    /// Applies the offset and limit of a descriptor.
    func window<T>(of descriptor: FetchDescriptor<T>) -> [Element] {
        window(offset: descriptor.fetchOffset, limit: descriptor.fetchLimit)
    }
}
