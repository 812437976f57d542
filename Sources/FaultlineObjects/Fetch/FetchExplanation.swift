internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// How a fetch is answered, and what that takes.
public struct FetchExplanation: Sendable, CustomStringConvertible {
    /// Where the objects that may be wanted are found.
    public enum Access: Sendable, Hashable {
        /// All objects are wanted, in the order of creation: no row is read.
        case everything
        /// Every row of the entity is looked at.
        case scan
        /// The one object that a unique property's index has for a constant.
        case uniqueIndex(property: String)
        /// The objects whose relationship leads to one object, by the index of that one's members.
        case memberIndex(relationship: String)
        /// The objects that an index over some properties names, for constants that the first of them are compared with, or
        /// because it has the order of the sort.
        case index(properties: [String])
        /// Objects whose identifiers the predicate names.
        case identifiers(count: Int)
    }

    /// The entity whose objects are wanted.
    public let entityName: String
    /// Where they are looked for.
    public let access: Access
    /// Whether the predicate is answered on the stored bytes; else each candidate is made, asked and let go again.
    public let isAnsweredByRows: Bool
    /// Whether the order is that of stored values; else all objects found are made and compared.
    public let isOrderedByRows: Bool
    /// Whether the index has the order, so that no more rows are read than the limit and the offset reach.
    public let isOrderedByIndex: Bool
    /// How many objects were found.
    public let foundCount: Int
    /// Rows that were looked at.
    public let rowsRead: Int
    /// Faults that fired because objects were asked or compared.
    public let faultsFired: Int

    /// What is said above, in one line.
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
    /// Says how a fetch is answered: which index is used, how many rows are looked at, and how many faults fire.
    ///
    /// Runs the fetch once as a context without objects and without unsaved changes would, at the state that this one
    /// is at after it has moved to the newest; this one's objects and counters stay as they are.
    ///
    /// - Parameter descriptor: The fetch.
    /// - Returns: What was done.
    /// - Throws: As `fetch`.
    public func explain<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> FetchExplanation {
        try core.throwing { try core.explain(QuerySource(descriptor)) }
    }

    /// Says how a fetch by name is answered.
    ///
    /// - Parameter request: The fetch.
    /// - Returns: What was done.
    /// - Throws: As `fetch`.
    public func explain(_ request: FetchRequest) throws -> FetchExplanation {
        try core.throwing { try core.explain(QuerySource(request)) }
    }
}

extension ContextCore {
    fileprivate func explain<T: PersistentModel>(_ source: QuerySource<T>) throws -> FetchExplanation {
        try beginReading()
        defer { endReading() }
        moveToNewest()
        let other = ContextCore(store: store, types: homes.compactMap(\.type), isReadOnly: true)
        try other.beginReading()
        defer { other.endReading() }
        other.moveTo(snapshot)
        other.errorHandler = errorHandler
        let query = try source.prepare(other)
        let note = AccessNote()
        other.accessNote = note
        let found = try other.fetchHere(query, source)
        if !query.prefetching.isEmpty { try other.prefetch(query.prefetching, of: found, query.home) }
        return FetchExplanation(
            entityName: query.entity.name, access: access(query, note), isAnsweredByRows: query.lowered.isExact,
            isOrderedByRows: query.order != nil, isOrderedByIndex: note.isOrdered, foundCount: found.count,
            rowsRead: other.counters.rowsRead, faultsFired: other.counters.faultsFired)
    }

    private func access<T: PersistentModel>(_ query: Query<T>, _ note: AccessNote) -> FetchExplanation.Access {
        func name(_ slot: Int) -> String { store.storage.schema.entities[query.entity.ordinal].properties[slot].name }
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
