internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore
internal import FaultlineText
internal import Foundation

/// Runs one search of a context.
struct SearchRunner<T: PersistentModel> {
    let context: ContextCore
    private let descriptor: SearchDescriptor<T>

    init(_ context: ContextCore, _ descriptor: SearchDescriptor<T>) {
        self.context = context
        self.descriptor = descriptor
    }

    /// Marks the number of an unsaved object: its place in a list.
    private static var unsavedMark: RecordID { 1 << 63 }

    func run() throws -> SearchResults<T> {
        try reading { query, search in
            let start = try descriptor.cursor.map { try self.start($0, query) }
            let found = try find(query, search, ranks: true)
            var places = try kept(found, query)
            let count = places.count
            let facets = try descriptor.facets.map { try SearchFacets(context, query, found).count(places, $0) }
            let scores = found.findings.scores(search.index)
            var cursor: SearchCursor?
            if descriptor.sortBy.isEmpty {
                places = ranked(places, found, query, scores, from: start, &cursor)
            } else {
                places = try sorted(places, found, query)
            }
            let matcher = TextMatcher(
                query: search.query, analyzer: search.index.analyzer, fieldCount: search.index.slots.count,
                fields: search.fields)
            let hits = try places.map { place in
                let object = found.object(place, query.home, context)
                return SearchHit(
                    object: object, score: scores[place],
                    highlights: descriptor.includesHighlights ? try highlights(object, search, matcher) : [])
            }
            return SearchResults(hits: hits, count: count, facets: facets, cursor: cursor)
        }
    }

    func count() throws -> Int {
        try reading { query, search in
            try kept(find(query, search, ranks: false), query).count
        }
    }

    func explain() throws -> SearchExplanation {
        try reading { query, search in
            let rowsRead = context.counters.rowsRead
            let found = try find(query, search, ranks: false)
            let count = try kept(found, query).count
            return SearchExplanation(
                entityName: query.entity.name, properties: search.index.names,
                isIndexed: context.snapshot.has(search.index.definition), foundCount: count,
                rowsRead: context.counters.rowsRead - rowsRead)
        }
    }

    // MARK: Steps

    /// The index of a search and its query.
    struct Search {
        let index: TextIndex
        let query: TextQuery
        let plan: TextPlan
        /// Bit k: field k is searched, unless a part of the query names its own.
        let fields: UInt32
    }

    private func reading<R>(_ body: (Query<T>, Search) throws -> R) throws -> R {
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
        let (query, search) = try prepare()
        return try body(query, search)
    }

    /// The search's conditions beside its words, and the words for the index; called between `beginReading` and
    /// `endReading`.
    func prepare() throws -> (Query<T>, Search) {
        if let link = context.link { try link.load(FetchDescriptor<T>(predicate: descriptor.predicate)) }
        let query = try Query(FetchDescriptor<T>(predicate: descriptor.predicate, sortBy: descriptor.sortBy), context)
        let (index, searched) = try chooseIndex(query)
        let parsed = try descriptor.query.resolve(analyzer: index.analyzer, fields: index.names, searched: searched)
        let fields = searched.map { $0.reduce(0) { $0 | 1 << UInt32($1) } } ?? UInt32.max
        let plan = TextPlan(parsed, fieldCount: index.slots.count, fields: fields)
        return (query, Search(index: index, query: parsed, plan: plan, fields: fields))
    }

    /// The first index that has the properties of the search, and the fields of those; nil for all.
    private func chooseIndex(_ query: Query<T>) throws -> (TextIndex, [Int]?) {
        let entity = query.entity
        let slots = try descriptor.properties.map { keyPath in
            guard let slot = query.home.rowSlots[keyPath] else {
                throw SwiftDataError.unsupportedKeyPath.explained("\(keyPath) is no stored property of \(entity.name).")
            }
            return slot
        }
        // Those that the root class declares, also where the store was opened for reading and has them not.
        let schema = context.store.storage.schema.entities[entity.ordinal]
        let declared = T._$modelType.root.entity.textIndexes.compactMap { text in
            entity.textIndexes.first { $0.names == text.properties }
                ?? TextIndex.unindexed(text.properties, weights: text.weights, entity, schema)
        }
        let indexes = declared.isEmpty ? entity.textIndexes : declared
        guard let index = indexes.first(where: { Set($0.slots).isSuperset(of: slots) }) else {
            throw SearchError(
                .noTextIndex,
                "\(entity.name) has no text index of these properties. Declare #TextIndex, or mark attributes .spotlight that are not .externalStorage."
            )
        }
        return (index, slots.isEmpty ? nil : index.slots.indices.filter { slots.contains(index.slots[$0]) })
    }

    func find(_ query: Query<T>, _ search: Search, ranks: Bool) throws -> FoundObjects<T> {
        let differing = context.pending.differingNumbers(query.home)
        var text = TextSearch(
            search.plan, by: search.index, of: query.entity, context.store, at: context.snapshot,
            excluding: Array(differing.keys))
        var findings: TextFindings
        do throws(TextSearchFailure) { findings = try text.run(ranks: ranks) } catch {
            switch error {
            case .store(let error): throw error
            case .query(let error): throw error
            }
        }
        context.tally.addRows(text.rowsRead)
        var unsaved: [ObjectHandle] = []
        let pending = context.pending.unsavedObjects(query.home)
        if !pending.isEmpty {
            var document = TextDocument(search.plan, search.index.analyzer)
            let texts = texts(search.index)
            for handle in pending {
                guard let draft = handle.core.pointee.draft else { continue }
                try texts.read(draft, into: &document)
                findings.take(document, Self.unsavedMark | RecordID(unsaved.count), ranks: ranks)
                unsaved.append(handle)
            }
        }
        return FoundObjects(findings, unsaved: unsaved, mark: Self.unsavedMark)
    }

    func texts(_ index: TextIndex) -> RowTexts {
        let (rows, snapshot) = (RowCache(context), context.snapshot)
        return RowTexts(index) { (reference) throws(StoreError) in
            do {
                return try rows.blobBytes(reference, snapshot)
            } catch let error as LogError {
                throw StoreError(error)
            } catch {
                throw StoreError(.malformed, "\(error)")
            }
        }
    }

    /// The places of the objects that also satisfy the predicate.
    private func kept(_ found: FoundObjects<T>, _ query: Query<T>) throws -> [Int] {
        guard query.isWanted != nil else { return Array(0..<found.findings.count) }
        var placesByID: [RecordID: Int] = [:]
        for (place, id) in found.findings.ids.enumerated() { placesByID[id] = place }
        var places: [Int] = []
        try visit(
            found, query,
            row: { row, _ in
                if let place = placesByID[row.number] { places.append(place) }
            },
            draft: { object, _ in
                if let id = found.id(of: object), let place = placesByID[id] { places.append(place) }
            })
        return places
    }

    /// Passes the objects found that satisfy the predicate to the closures.
    private func visit(
        _ found: FoundObjects<T>, _ query: Query<T>, row: (FoundRow, T?) throws -> Void,
        draft: (T, Draft) throws -> Void
    ) throws {
        let rows = RowCache(context)
        let stored = found.stored
        try RowSearch(context).visitMatches(
            query, keepingObjects: false,
            from: { take in
                var window = RecordWindow(context.snapshot)
                for number in stored {
                    let found = try rows.foundRow(
                        number, query.home, query.entity, asksObjects: !query.lowered.isExact, by: &window)
                    if let found, try !take(found) { return }
                }
            },
            row: { found, object in
                try row(found, object)
                return true
            }, draft: draft)
    }

    // MARK: Orders

    /// The places of a page in the order by rank, and the page's end.
    private func ranked(
        _ places: [Int], _ found: FoundObjects<T>, _ query: Query<T>, _ scores: [Double],
        from start: (score: Double, order: RecordID)?, _ cursor: inout SearchCursor?
    ) -> [Int] {
        var ordered = places
        if let start {
            ordered = ordered.filter {
                scores[$0] != start.score ? scores[$0] < start.score : found.order($0) > start.order
            }
        }
        // One more than the page has, to know whether it is the last.
        let end = max(0, descriptor.offset).addingReportingOverflow(max(0, descriptor.limit ?? .max))
        ordered.keepFirst(end.overflow || end.partialValue == .max ? .max : end.partialValue + 1) { left, right in
            scores[left] != scores[right] ? scores[left] > scores[right] : found.order(left) < found.order(right)
        }
        let page = ordered.dropFirst(max(0, descriptor.offset)).prefix(max(0, descriptor.limit ?? .max))
        if let last = page.last, page.endIndex < ordered.endIndex {
            let order = found.order(last)
            let isNew = order & Self.unsavedMark != 0
            cursor = SearchCursor(
                score: scores[last].bitPattern,
                identifier: PersistentIdentifier(
                    storeID: isNew ? PersistentIdentifier.unsaved : context.store.log.storeID,
                    entityName: query.entity.name, number: order & ~Self.unsavedMark))
        }
        return Array(page)
    }

    /// The rank and the place in the order of creation behind which a page begins.
    private func start(_ cursor: SearchCursor, _ query: Query<T>) throws -> (score: Double, order: RecordID) {
        guard descriptor.sortBy.isEmpty else {
            throw SearchError(
                .invalidCursor,
                "A cursor of a search is one of the order by rank. Leave sortBy empty, or use an offset.")
        }
        let (identifier, score) = (cursor.identifier, Double(bitPattern: cursor.score))
        guard score.isFinite, identifier.entityName == query.entity.name else {
            throw SearchError(
                .invalidCursor,
                "The cursor is one of \(identifier.entityName), and \(query.entity.name) is searched. Begin with the first page."
            )
        }
        if let number = identifier.unsavedNumber {
            guard context.pending.insertedObject(number) != nil else {
                throw SearchError(
                    .invalidCursor,
                    "The cursor is one of an object that was new, and was saved or dropped since. Begin with the first page."
                )
            }
            return (score, Self.unsavedMark | number)
        }
        guard let number = identifier.storedNumber(in: context.store.log.storeID) else {
            throw SearchError(
                .invalidCursor,
                "The cursor is one of another store, or of objects that another process has not saved. Begin with the first page."
            )
        }
        return (score, number)
    }

    /// The places in the order of the descriptor's sort keys.
    private func sorted(_ places: [Int], _ found: FoundObjects<T>, _ query: Query<T>) throws -> [Int] {
        let objects = places.map { (place: $0, object: found.object($0, query.home, context)) }
        let order = descriptor.sortBy
        let sorted = TrackingWord.withoutTracking {
            objects.sorted { left, right in
                for key in order {
                    switch key.compare(left.object, right.object) {
                    case .orderedAscending: return true
                    case .orderedDescending: return false
                    case .orderedSame: continue
                    }
                }
                return found.order(left.place) < found.order(right.place)
            }
        }
        return sorted.dropFirst(max(0, descriptor.offset)).prefix(max(0, descriptor.limit ?? .max)).map(\.place)
    }

    /// The places of the query's words in the texts of an object.
    private func highlights(_ object: T, _ search: Search, _ matcher: TextMatcher) throws -> [SearchHighlight] {
        let core = object._$coreAddress()
        let texts = texts(search.index)
        let bytes: [[UInt8]]
        if let draft = core.pointee.draft {
            bytes = try texts.bytes(of: draft)
        } else if let row = core.pointee.loadedRow() {
            bytes = try texts.bytes(of: row)
        } else {
            return []
        }
        // One behind the other, so that one pointer serves all.
        let match = bytes.flatMap { $0 }.withUnsafeBufferPointer { all in
            var start = 0
            let fields = bytes.map { text in
                defer { start += text.count }
                return UnsafeBufferPointer(rebasing: all[start..<start + text.count])
            }
            return matcher.match(fields: fields)
        }
        guard let match else { return [] }
        return search.index.names.indices.compactMap { field in
            guard search.fields >> UInt32(field) & 1 != 0 else { return nil }
            let ranges = match.highlights(in: field)
            return ranges.isEmpty ? nil : SearchHighlight(property: search.index.names[field], ranges: ranges)
        }
    }
}
