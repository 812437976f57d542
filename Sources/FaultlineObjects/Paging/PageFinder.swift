internal import FaultlineLog
internal import FaultlineStore

/// Finds the pages of a fetch: the objects after a cursor, in the order of a query.
struct PageFinder {
    private let context: ContextCore
    private let search: RowSearch

    init(_ context: ContextCore) {
        self.context = context
        search = RowSearch(context)
    }

    func fetchPage<T: PersistentModel>(_ source: QuerySource<T>, after cursor: FetchCursor?) throws -> FetchPage<T> {
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
        let query = try source.prepare(context)
        guard !query.descriptor.includePendingChanges || !context.hasChanges else {
            throw SwiftDataError.includePendingChangesWithBatchSize.explained(
                "A page cannot show unsaved changes. Save first, or leave them out of the descriptor.")
        }
        let start = try query.start(after: cursor, context)
        let size = query.descriptor.fetchLimit ?? 1
        let numbers: [RecordID]
        let objects: [T]
        if FetchRunner(context).isMisledByChanges(query) {
            // Uses a context whose objects have no changes.
            let unchanged = context.contextOfStored()
            try unchanged.beginReading()
            defer { unchanged.endReading() }
            unchanged.moveTo(context.snapshot)
            numbers = try PageFinder(unchanged).page(try source.prepare(unchanged), behind: start, size).numbers
            context.tally.add(unchanged.counters)
            objects = numbers.map { ObjectRegistry(context).object($0, query.home, as: T.self) }
        } else {
            let found = try page(query, behind: start, size)
            numbers = found.numbers
            objects =
                found.matches?.objects(query, context)
                ?? numbers.map { ObjectRegistry(context).object($0, query.home, as: T.self) }
        }
        if !query.prefetching.isEmpty {
            try RowPrefetcher(context).prefetch(query.prefetching, of: objects, query.home)
        }
        return FetchPage(
            objects: objects, cursor: try numbers.last.map { try self.cursor(at: $0, query) } ?? cursor,
            isLast: numbers.count < size)
    }

    /// The cursor of a page that ends with an object.
    private func cursor<T: PersistentModel>(at number: RecordID, _ query: Query<T>) throws -> FetchCursor {
        var buffer = RecordBuffer()
        let snapshot = context.snapshot
        var keys: [[UInt8]] = []
        if query.order?.isEmpty == false,
            let record = try snapshot.read(number, in: query.entity.table, into: &buffer)
        {
            keys = try query.keys(of: try context.store.view(record, of: query.entity)) {
                try RowCache(context).blobBytes($0, snapshot)
            }
        }
        return FetchCursor(
            identifier: context.identifier(of: ObjectReference(number: number, isTemporary: false), query.entity),
            order: query.orderNames(context) ?? [], keys: keys)
    }

    // MARK: Finding

    /// The result of a page: numbers, and the matches if rows were read.
    struct PageFound<T: PersistentModel> {
        let numbers: [RecordID]
        let matches: Matches<T>?
    }

    /// The first objects that satisfy a query after a position in its order.
    ///
    /// Used between `beginReading` and `endReading`, without unsaved changes that count.
    func page<T: PersistentModel>(_ query: Query<T>, behind start: PageStart, _ size: Int) throws -> PageFound<T> {
        guard let order = query.order else { return PageFound(numbers: [], matches: nil) }
        if query.isEverything { return PageFound(numbers: try numbers(query, behind: start, size), matches: nil) }
        if order.isEmpty {
            let found = try pageByNumber(query, behind: start, size)
            return PageFound(numbers: found.numbers, matches: found)
        }
        if let found = try pageByIndex(query, behind: start, size) {
            return PageFound(numbers: found.numbers, matches: found)
        }
        return PageFound(numbers: try pageBySorting(query, order, behind: start, size), matches: nil)
    }

    /// Pages all objects in the order of creation: no row is read.
    private func numbers<T: PersistentModel>(
        _ query: Query<T>, behind start: PageStart, _ size: Int
    ) throws -> [RecordID] {
        var numbers: [RecordID] = []
        try context.snapshot.forEachPage(of: query.entity.table, from: start.number + 1) { first, entries in
            for entry in 0..<336 where entries.load(fromByteOffset: entry * 12, as: UInt32.self) != 0 {
                let number = first + RecordID(entry)
                if number > start.number, numbers.count < size { numbers.append(number) }
            }
            return numbers.count < size
        }
        return numbers
    }

    /// Pages in the order of creation: rows are read from the position on, until the page is full.
    private func pageByNumber<T: PersistentModel>(
        _ query: Query<T>, behind start: PageStart, _ size: Int
    ) throws -> Matches<T> {
        var found = Matches<T>(order: [])
        let (snapshot, table) = (context.snapshot, query.entity.table)
        try search.visitMatches(
            query, keepingObjects: true,
            from: { take in
                if let numbers = try search.namedNumbers(query) {
                    var window = RecordWindow(snapshot)
                    for number in numbers where number > start.number {
                        let row = try RowCache(context).foundRow(
                            number, query.home, query.entity, asksObjects: !query.lowered.isExact, by: &window)
                        if let row, try !take(row) { return }
                    }
                    return
                }
                try snapshot.scan(
                    table, from: start.number + 1, through: ModelCore.numberMask, readAhead: RowArena.blockByteCount
                ) { records in
                    for record in records {
                        context.tally.addRow()
                        let view = try context.store.view(record, of: query.entity)
                        guard try take(FoundRow(record, view, isSingle: false)) else { return false }
                    }
                    return true
                }
            },
            row: { row, object in
                found.append(row.number, object == nil ? RowCache(context).keep(row, query.home) : .none, object)
                return found.count < size
            }, draft: { _, _ in })
        return found
    }

    /// Pages by an index that has the order; nil if there is none, or if reading all rows is faster.
    private func pageByIndex<T: PersistentModel>(
        _ query: Query<T>, behind start: PageStart, _ size: Int
    ) throws -> Matches<T>? {
        let countMax = search.indexedCountMax(query.entity)
        guard let selection = search.usableSelection(of: query), let order = selection.order, size <= countMax,
            try !search.hasSetAside(selection)
        else { return nil }
        var place: IndexSelection.Place?
        if !start.isBeginning {
            let equal = selection.index.slots[..<selection.equalCount]
            let behind = zip(query.order ?? [], start.keys).filter { !equal.contains($0.0.slot) }.flatMap(\.1)
            place = .init(key: selection.ranges[0].prefix + behind, id: start.number)
        }
        var found = Matches<T>(order: [])
        var isGivenUp = false
        let snapshot = context.snapshot
        try search.visitMatches(
            query, keepingObjects: true,
            from: { take in
                var window = RecordWindow(snapshot)
                var left = countMax
                try snapshot.walk(selection.ranges[0], of: selection.index, order, behind: place) { number in
                    left -= 1
                    isGivenUp = left < 0
                    guard !isGivenUp else { return false }
                    let row = try RowCache(context).foundRow(
                        number, query.home, query.entity, asksObjects: !query.lowered.isExact, by: &window)
                    return try row.map(take) ?? true
                }
            },
            row: { row, object in
                found.append(row.number, object == nil ? RowCache(context).keep(row, query.home) : .none, object)
                return found.count < size
            }, draft: { _, _ in })
        if isGivenUp { return nil }
        context.reports.accessNote?.index = selection.index
        context.reports.accessNote?.isOrdered = true
        return found
    }

    /// Pages by checking all rows: holds the keys of two pages.
    private func pageBySorting<T: PersistentModel>(
        _ query: Query<T>, _ order: [(slot: Int, isAscending: Bool)], behind start: PageStart, _ size: Int
    ) throws -> [RecordID] {
        var best = KeySelection(limit: size)
        let snapshot = context.snapshot
        let first = start.joined(order)
        try search.visitMatches(
            query, keepingObjects: false,
            row: { row, _ in
                let keys = try query.keys(of: row.view) { try RowCache(context).blobBytes($0, snapshot) }
                let key = PageStart(number: row.number, keys: keys).joined(order)
                if start.isBefore(key, row.number, first) { key.withUnsafeBytes { best.offer($0, tag: row.number) } }
                return true
            }, draft: { _, _ in })
        best.sort()
        return (0..<best.count).map { best.tag(at: $0) }
    }
}
