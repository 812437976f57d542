internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Computes aggregates over the objects that a query finds in a context, on the stored bytes where they can answer.
struct AggregateRunner {
    let context: ContextCore

    init(_ context: ContextCore) { self.context = context }

    /// Computes aggregates over the objects that a query finds, for each group in the order of the groups' keys;
    /// without columns to group by there is one group, also without objects.
    func aggregate<T: PersistentModel>(
        _ source: QuerySource<T>, _ prepare: (Query<T>) throws -> AggregatePlan
    ) throws -> [AggregateGroup] {
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
        let query = try source.prepare(context)
        let plan = try prepare(query)
        var groups = AggregateGroups(plan)
        let load: AggregateColumn.Load = { try RowCache(context).blobBytes($0, context.snapshot) }
        try forEachMatch(query, source, row: { try groups.add($0, load) }, draft: { try groups.add($0, load) })
        for column in plan.columns { try column.targets?.check() }
        return groups.sorted()
    }

    /// Passes the matches of a query to the closures: as rows, and as drafts if unsaved changes count.
    private func forEachMatch<T: PersistentModel>(
        _ query: Query<T>, _ source: QuerySource<T>, row: (RowView) throws -> Void, draft: (Draft) throws -> Void
    ) throws {
        let entity = query.entity
        guard !needsObjects(query) else {
            // The window's order or the unsaved changes need objects.
            if query.descriptor.includePendingChanges, context.hasChanges {
                for object in try FetchRunner(context).fetchHere(query, source) {
                    let core = object._$coreAddress()
                    if let unsaved = core.pointee.draft {
                        try draft(unsaved)
                    } else if let view = core.pointee.loadedRow() {
                        try row(view)
                    }
                }
                return
            }
            var buffer = RecordBuffer()
            for number in try FetchRunner(context).storedNumbers(query, source) {
                guard let record = try context.snapshot.read(number, in: entity.table, into: &buffer) else { continue }
                context.tally.addRow()
                try row(try context.store.view(record, of: entity))
            }
            return
        }
        try RowSearch(context).visitMatches(
            query, keepingObjects: false,
            row: { found, _ in
                try row(found.view)
                return true
            },
            draft: { _, unsaved in try draft(unsaved) })
    }

    private func needsObjects<T: PersistentModel>(_ query: Query<T>) -> Bool {
        (query.descriptor.fetchLimit ?? 0) > 0 || (query.descriptor.fetchOffset ?? 0) > 0
            || !query.descriptor.includePendingChanges && context.hasChanges && !query.lowered.isExact
    }

    // MARK: Columns

    /// The column of a slot.
    ///
    /// - Throws: `SwiftDataError.unsupportedKeyPath` if the function does not apply to the slot's type.
    func aggregateColumn<T: PersistentModel>(
        _ slot: Int, of query: Query<T>, for function: AggregateFunction?
    ) throws -> AggregateColumn {
        let entity = query.entity
        let kind = entity.layout.columns[slot].kind
        let name = "\(entity.name).\(context.store.storage.schema.entities[entity.ordinal].properties[slot].name)"
        switch kind {
        case _ where entity.ephemeralSlots.contains(slot):
            throw refusal("\(name) is ephemeral: rows do not have it.")
        case .toMany: throw refusal("\(name) is to many: compute over the objects of the other side.")
        case .attribute(.codable) where function != .count:
            throw refusal("\(name) is kept encoded, which has no order and no equality on the stored bytes.")
        case .toOne where function != nil && function != .count:
            throw refusal("\(name) is a relationship, not a value.")
        default: break
        }
        if function == .sum || function == .average {
            guard kind.isInteger || [.attribute(.float), .attribute(.double), .attribute(.decimal)].contains(kind)
            else {
                throw refusal("\(name) is no number: it can be neither added nor averaged.")
            }
        }
        return AggregateColumn(
            slot: slot, kind: kind,
            targets: context.targets(
                of: entity, slot, includingPendingChanges: query.descriptor.includePendingChanges))
    }

    private func refusal(_ text: String) -> SwiftDataError { SwiftDataError.unsupportedKeyPath.explained(text) }
}
