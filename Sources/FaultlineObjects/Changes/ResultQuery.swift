internal import FaultlineLog
internal import FaultlineStore

/// The result that a stream of changes is about, prepared for one context.
package struct ResultQuery {
    let entity: EntityStorage
    /// Whether the result has all objects of the entity.
    let isEverything: Bool
    /// Tables whose objects the predicate may read through relationships, perhaps its own.
    let otherTables: Set<TableID>
    /// The numbers of those given objects that are in the result; of all objects for nil.
    let match: (_ numbers: [RecordID]?) throws -> NumberSet

    /// Called between `beginReading` and `endReading` of a context without changes.
    init<T: PersistentModel>(_ source: QuerySource<T>, _ context: ContextCore) throws {
        let query = try source.prepare(context)
        self.init(query, isEverything: query.isEverything, context) { numbers in
            var found = NumberSet()
            let search = RowSearch(context)
            try search.visitRows(of: query, try numbers ?? search.namedNumbers(query), behind: 0) { number, _ in
                found.insert(number)
                return true
            }
            return found
        }
    }

    /// - Parameters:
    ///   - query: The result's conditions.
    ///   - isEverything: Whether it has all objects of the entity.
    ///   - context: The context.
    ///   - match: The numbers of those given objects that are in the result; of all objects for nil.
    init<T: PersistentModel>(
        _ query: Query<T>, isEverything: Bool, _ context: ContextCore,
        match: @escaping (_ numbers: [RecordID]?) throws -> NumberSet
    ) {
        entity = query.entity
        self.isEverything = isEverything
        var tables = Set(query.lowered.filter.targets.map(\.table))
        if query.isWanted != nil, !query.lowered.isExact {
            tables.formUnion(
                query.condition?.otherTables ?? Self.tables(reachedFrom: query.entity, in: context.store))
        }
        otherTables = tables
        self.match = match
    }

    /// The tables of all entities that relationships lead to.
    private static func tables(reachedFrom entity: EntityStorage, in store: RowStore) -> Set<TableID> {
        var reached: Set<Int> = []
        var rest = [entity.ordinal]
        while let next = rest.popLast() {
            for slot in store.storage.entities[next].slots {
                switch slot {
                case .attribute: break
                case .toOne(let relationship):
                    if reached.insert(relationship.destination).inserted { rest.append(relationship.destination) }
                case .toMany(let relationship):
                    if reached.insert(relationship.destination).inserted { rest.append(relationship.destination) }
                }
            }
        }
        return Set(reached.map { store.storage.entities[$0].table })
    }
}
