internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore

/// Finds the rows and the unsaved objects of a context that satisfy a query.
///
/// Used between `beginReading` and `endReading`. Holds nothing but the context: made for one search.
struct RowSearch {
    let context: ContextCore

    @inline(__always)
    init(_ context: ContextCore) { self.context = context }

    @inline(__always) var rows: RowCache { RowCache(context) }

    /// How many rows satisfy a query that the stored bytes answer alone; nil if unsaved changes or the predicate
    /// prevent that.
    func countOnBytes<T: PersistentModel>(_ query: Query<T>) throws -> Int? {
        guard query.lowered.isExact, query.lowered.candidates == nil, query.uniqueKey == nil, query.memberOwner == nil,
            !query.descriptor.includePendingChanges || !context.pending.hasPending(query.home)
        else { return nil }
        if query.selection != nil {
            if let count = try countOnIndex(query) { return count }
            if try indexedNumbers(query) != nil { return nil }
        }
        let (matches, rowsRead) = try RowCount(query.lowered.filter, query.entity, context.store, context.snapshot)
            .count()
        context.tally.addRows(rowsRead)
        return matches
    }

    /// The objects that satisfy a query, unordered: unchanged ones by their stored values, changed and new ones by
    /// their values here.
    ///
    /// Objects that the window does not reach may be left out.
    func matches<T: PersistentModel>(_ query: Query<T>, keepingRows: Bool) throws -> Matches<T> {
        if let found = try matchesInOrder(query, keepingRows: keepingRows) { return found }
        // Objects that are sorted themselves are all made.
        var found = Matches<T>(order: query.order ?? [], reach: query.order == nil ? nil : query.reach)
        let snapshot = context.snapshot
        try visitMatches(
            query, keepingObjects: keepingRows, within: found.window,
            row: { row, object in
                found.append(
                    row.number, keepingRows && object == nil ? rows.keep(row, query.home) : .none, object)
                return !found.isComplete
            },
            draft: { object, draft in try found.append(object, draft) { try rows.blobBytes($0, snapshot) }
            })
        return found
    }

    /// Passes the matches of a query to the closures: stored rows, with their object if one was made and is kept, until
    /// `row` returns false, and the drafts of changed and new objects.
    ///
    /// `source` provides the rows to check; without it the query finds them. Objects that the window does not reach are
    /// left out.
    @inline(__always)
    func visitMatches<T: PersistentModel>(
        _ query: Query<T>, keepingObjects: Bool, within window: SortWindow? = nil,
        from source: (((FoundRow) throws -> Bool) throws -> Void)? = nil,
        row: (FoundRow, T?) throws -> Bool,
        draft: (T, Draft) throws -> Void
    ) throws {
        let entity = query.entity
        let home = query.home
        let countsPending = query.descriptor.includePendingChanges
        let pending = countsPending ? context.pending.unsavedCandidates(query) : []
        let skipped = countsPending ? context.pending.differingNumbers(home) : [:]
        var programs = ProgramCache(query.lowered.filter, entity, context, context.snapshot)
        let snapshot = context.snapshot
        let isExact = query.lowered.isExact
        let isWanted = query.isWanted
        let condition = query.condition
        defer { condition?.finish() }
        var cancellation = CancellationPoint()

        func take(_ found: FoundRow) throws -> Bool {
            try cancellation.pass()
            if !skipped.isEmpty, skipped[found.number] != nil { return true }
            guard try programs.matches(found.view, found.layout),
                try window?.reaches(found.view, load: { try rows.blobBytes($0, snapshot) }) != false
            else { return true }
            var object: T?
            if let isTrue = condition?.isTrue(of: found) {
                guard isTrue else { return true }
            } else if !isExact, let isWanted {
                guard let candidate = try wantedObject(of: found, home, isWanted) else { return true }
                if keepingObjects { object = candidate }
            }
            return try row(found, object)
        }

        if let source {
            try source(take)
        } else if let numbers = try namedNumbers(query) {
            try read(numbers, query, take)
        } else {
            try snapshot.scan(
                entity.table, from: 1, through: ModelCore.numberMask, readAhead: RowArena.blockByteCount
            ) { records in
                for record in records {
                    context.tally.addRow()
                    let view = try context.store.view(record, of: entity)
                    guard try take(FoundRow(record, view, isSingle: false)) else { return false }
                }
                return true
            }
        }
        try query.checkTargets()
        for handle in pending {
            guard let object = handle.object as? T else { continue }
            if let isWanted, try !TrackingWord.withoutTracking({ try isWanted(object) }) { continue }
            guard let unsaved = handle.core.pointee.draft else { continue }
            try draft(object, unsaved)
        }
    }

    /// The object of a row that cannot decide; nil, and released again, unless it satisfies the predicate.
    private func wantedObject<T: PersistentModel>(
        of found: FoundRow, _ home: EntityHome, _ isWanted: (T) throws -> Bool
    ) throws -> T? {
        let candidate = ObjectRegistry(context).object(found.number, home, as: T.self)
        let core = candidate._$coreAddress()
        if core.pointee.draftPointer == nil, !rows.rowIsLoaded(core) { core.pointee.row = rows.keep(found, home) }
        return try TrackingWord.withoutTracking { try isWanted(candidate) } ? candidate : nil
    }

    /// The candidates that contain all matches of a query, ascending; nil if all rows must be checked.
    func namedNumbers<T: PersistentModel>(_ query: Query<T>) throws -> [RecordID]? {
        context.reports.walked.candidateListings += 1
        if let candidates = query.lowered.candidates { return candidates.sorted() }
        if let (index, value) = query.uniqueKey {
            return try uniqueHolder(index, value, query.entity).map { [$0] } ?? []
        }
        if let numbers = try indexedNumbers(query) { return numbers }
        return try query.memberOwner.map { try context.snapshot.members(of: $0.owner, in: $0.index).sorted() }
    }

    private func read<T: PersistentModel>(
        _ numbers: [RecordID], _ query: Query<T>, _ take: (FoundRow) throws -> Bool
    ) throws {
        var window = RecordWindow(context.snapshot)
        for number in numbers where number != 0 && number <= ModelCore.numberMask {
            let found = try rows.foundRow(
                number, query.home, query.entity, asksObjects: !query.lowered.isExact, by: &window)
            if let found, try !take(found) { return }
        }
    }

    /// The object that has a value of a unique attribute.
    private func uniqueHolder(_ index: UniqueIndex, _ value: RowValue, _ entity: EntityStorage) throws -> RecordID? {
        var key = KeyWriter()
        guard key.append(value, as: entity.layout.columns[index.slots[0]].kind) else { return nil }
        return try key.withBytes { (bytes) throws(LogError) in
            try context.snapshot.firstID(in: index.definition, key: bytes)
        }
    }
}
