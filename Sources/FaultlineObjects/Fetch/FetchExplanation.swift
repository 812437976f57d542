internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// How a fetch is answered, and its cost.
public struct FetchExplanation: Sendable, CustomStringConvertible {
    /// The source of the candidates.
    public enum Access: Sendable, Hashable {
        /// All objects match, in the order of creation: no row is read.
        case everything
        /// Every row of the entity is checked.
        case scan
        /// The one object that a unique property's index has for a constant.
        case uniqueIndex(property: String)
        /// The objects whose relationship leads to one object, by the index of that object's members.
        case memberIndex(relationship: String)
        /// The objects that an index over some properties names, for constants that the first properties are compared
        /// with, or because it has the order of the sort.
        case index(properties: [String])
        /// Objects whose identifiers the predicate names.
        case identifiers(count: Int)
    }

    /// The fetched entity.
    public let entityName: String
    /// The source of the candidates.
    public let access: Access
    /// Whether the predicate is evaluated on the stored bytes; if not, each candidate is made, evaluated and released.
    public let isAnsweredByRows: Bool
    /// Whether the sort uses stored values; if not, all objects found are made and compared.
    public let isOrderedByRows: Bool
    /// Whether the index has the order, so that no more rows are read than the limit and the offset reach.
    public let isOrderedByIndex: Bool
    /// How many objects were found.
    public let foundCount: Int
    /// Rows that were checked.
    public let rowsRead: Int
    /// Faults that fired because objects were evaluated or compared.
    public let faultsFired: Int

    /// The explanation in one line.
    public var description: String {
        let place =
            switch access {
            case .everything: "all of \(entityName), no row is read"
            case .scan: "every row of \(entityName)"
            case .uniqueIndex(let property): "the unique index of \(entityName).\(property)"
            case .memberIndex(let relationship): "the members' index of \(entityName).\(relationship)"
            case .index(let properties): "the index of \(entityName).(\(properties.joined(separator: ", ")))"
            case .identifiers(let count): "\(count) identifiers of \(entityName)"
            }
        let predicate = isAnsweredByRows ? "answered on rows" : "asked of objects"
        let order =
            isOrderedByIndex ? "ordered by the index" : isOrderedByRows ? "ordered by rows" : "ordered by objects"
        let counts = "\(foundCount) found, \(rowsRead) rows read, \(faultsFired) faults fired"
        return "\(place); \(predicate); \(order); \(counts)"
    }
}

extension ModelContext {
    /// Explains a fetch: which index it uses, how many rows it checks, and how many faults fire.
    ///
    /// Runs the fetch once as a context without objects and without unsaved changes would, in the state of this context
    /// after it has moved to the newest; this one's objects and counters do not change.
    ///
    /// - Parameter descriptor: The fetch.
    /// - Returns: The explanation.
    /// - Throws: As `fetch`.
    /// - Complexity: That of the fetch, once, with its rows read.
    public func explain<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> FetchExplanation {
        let core = core(of: T.self)
        return try core.throwing { try FetchExplainer(core).explain(QuerySource(descriptor)) }
    }

    /// Explains a fetch by name.
    ///
    /// - Parameter request: The fetch.
    /// - Returns: The explanation.
    /// - Throws: As `fetch`.
    /// - Complexity: That of the fetch, once, with its rows read.
    public func explain(_ request: FetchRequest) throws -> FetchExplanation {
        let core = core(named: request.entityName)
        func explain<T: PersistentModel>(_ type: T.Type) throws -> FetchExplanation {
            try FetchExplainer(core).explain(QuerySource(request, of: type))
        }
        return try core.throwing { try explain(try core.entity(named: request.entityName).model) }
    }
}

/// Runs a fetch in a context of its own, and notes how its rows are found.
private struct FetchExplainer {
    let context: ContextCore

    init(_ context: ContextCore) { self.context = context }

    func explain<T: PersistentModel>(_ source: QuerySource<T>) throws -> FetchExplanation {
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
        let other = context.contextOfStored()
        try other.beginReading()
        defer { other.endReading() }
        other.moveTo(context.snapshot)
        let query = try source.prepare(other)
        let note = AccessNote()
        other.reports.accessNote = note
        let found = try FetchRunner(other).fetchHere(query, source)
        if !query.prefetching.isEmpty { try RowPrefetcher(other).prefetch(query.prefetching, of: found, query.home) }
        return FetchExplanation(
            entityName: query.entity.name, access: access(query, note), isAnsweredByRows: query.isAnsweredByRows,
            isOrderedByRows: query.order != nil, isOrderedByIndex: note.isOrdered, foundCount: found.count,
            rowsRead: other.counters.rowsRead, faultsFired: other.counters.faultsFired)
    }

    private func access<T: PersistentModel>(_ query: Query<T>, _ note: AccessNote) -> FetchExplanation.Access {
        func name(_ slot: Int) -> String {
            context.store.storage.schema.entities[query.entity.ordinal].properties[slot].name
        }
        if query.isEverything { return .everything }
        if let candidates = query.lowered.candidates { return .identifiers(count: candidates.count) }
        if let (index, _) = query.uniqueKey { return .uniqueIndex(property: name(index.slots[0])) }
        if let index = note.index { return .index(properties: index.slots.map(name)) }
        if let (index, _) = query.memberOwner {
            let slot = query.entity.memberIndexes.first { $0.definition == index }?.slot
            return .memberIndex(relationship: slot.map(name) ?? "")
        }
        return .scan
    }
}
