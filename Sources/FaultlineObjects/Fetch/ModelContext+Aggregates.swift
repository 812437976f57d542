internal import FaultlineStore

// Values computed over what a fetch finds, on the stored bytes.

/// Objects for which a property has one value, and what was computed over them.
public struct FetchedGroup<Key, each Value> {
    /// The value of the property.
    public let key: Key
    /// What was computed: one value, or a tuple of several.
    public let values: (repeat each Value)

    init(key: Key, values: (repeat each Value)) {
        self.key = key
        self.values = values
    }
}

extension ModelContext {
    /// Computes over the objects that a descriptor asks for, in one pass.
    ///
    ///     let (count, oldest) = try context.fetchAggregates(FetchDescriptor<Person>(), .count, .maximum(\.age))
    ///
    /// No object is made and no fault fires where the stored bytes answer the predicate; else each candidate is made,
    /// asked and let go again. A limit or an offset cuts the objects, not the values.
    ///
    /// - Parameters:
    ///   - descriptor: Over which objects.
    ///   - aggregates: What is computed.
    /// - Returns: A value for each aggregate.
    /// - Throws: What `fetch` throws; `SwiftDataError.unsupportedKeyPath` for a key path whose values cannot be computed
    ///   with, or a sum that `Int` does not hold.
    public func fetchAggregates<T: PersistentModel, each Value>(
        _ descriptor: FetchDescriptor<T>, _ aggregates: repeat Aggregate<T, each Value>
    ) throws -> (repeat each Value) {
        // No closure may hold the aggregates: what is asked of rows is the same whatever their values are.
        var terms: [AggregateTerm<T>] = []
        repeat terms.append(AggregateTerm(each aggregates))
        let groups = try core.computedGroups(descriptor, nil, terms)
        var values = AggregateResults(groups[0], core)
        return (repeat try values.next(each aggregates))
    }

    /// Computes over the objects that a descriptor asks for, for each value of a property apart.
    ///
    ///     let crowded = try context.fetchGroups(
    ///         FetchDescriptor<Person>(), by: \.city, .count, .average(\.age), having: { $0.values.0 > 1_000 })
    ///
    /// Nil is a group of its own. Where the property is a relationship to one, the keys are its objects, as faults; no
    /// other object is made and no fault fires where the stored bytes answer the predicate.
    ///
    /// - Parameters:
    ///   - descriptor: Over which objects; its limit and offset cut the groups, its order is not asked for.
    ///   - keyPath: Of objects in one group this has the same value.
    ///   - aggregates: What is computed for each group.
    ///   - isWanted: Which groups are wanted.
    /// - Returns: The groups in the order of their keys.
    /// - Throws: As `fetchAggregates`; what `isWanted` throws.
    public func fetchGroups<T: PersistentModel, Key, each Value>(
        _ descriptor: FetchDescriptor<T>, by keyPath: KeyPath<T, Key>,
        _ aggregates: repeat Aggregate<T, each Value>,
        having isWanted: (FetchedGroup<Key, repeat each Value>) throws -> Bool = { _ in true }
    ) throws -> [FetchedGroup<Key, repeat each Value>] {
        var all = descriptor
        all.sortBy = []
        all.fetchLimit = nil
        all.fetchOffset = nil
        var terms: [AggregateTerm<T>] = []
        repeat terms.append(AggregateTerm(each aggregates))
        var found: [FetchedGroup<Key, repeat each Value>] = []
        for group in try core.computedGroups(all, keyPath, terms) {
            var values = AggregateResults(group, core)
            let key = try core.key(group.keyValues[0], keyPath)
            let computed = FetchedGroup(key: key, values: (repeat try values.next(each aggregates)))
            if try isWanted(computed) { found.append(computed) }
        }
        return found.window(of: descriptor)
    }

    /// The different values that a property has in the objects that a descriptor asks for, in their order.
    ///
    /// Values that are equal are one; nil is one. No object is made where the stored bytes answer the predicate.
    ///
    /// - Parameters:
    ///   - keyPath: A stored attribute, or a relationship to one, whose objects are then given as faults.
    ///   - descriptor: Of which objects; its limit and offset cut the values, its order is not asked for.
    /// - Returns: Each value once.
    /// - Throws: As `fetchAggregates`.
    public func fetchDistinct<T: PersistentModel, Value>(
        _ keyPath: KeyPath<T, Value>, _ descriptor: FetchDescriptor<T> = FetchDescriptor<T>()
    ) throws -> [Value] {
        try fetchGroups(descriptor, by: keyPath, .count).map(\.key)
    }
}

/// What is asked of rows for an aggregate, whatever its value is.
private struct AggregateTerm<T: PersistentModel> {
    let function: AggregateFunction
    let keyPath: PartialKeyPath<T>?

    init<Value>(_ aggregate: Aggregate<T, Value>) {
        function = aggregate.function
        keyPath = aggregate.keyPath
    }
}

/// Hands the values of one group out, in the order of the aggregates.
private struct AggregateResults {
    private let group: AggregateGroup
    private let context: ContextCore
    private var place = 0

    init(_ group: AggregateGroup, _ context: ContextCore) {
        self.group = group
        self.context = context
    }

    mutating func next<T, Value>(_ aggregate: Aggregate<T, Value>) throws -> Value {
        let computed = group.states[place].value
        place += 1
        if let value = aggregate.convert(computed) { return value }
        return try context.refuse("The \(aggregate.function) is \(computed), which \(Value.self) does not hold.")
    }
}

extension ContextCore {
    fileprivate func computedGroups<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, _ groupedBy: PartialKeyPath<T>?, _ terms: [AggregateTerm<T>]
    ) throws -> [AggregateGroup] {
        try throwing {
            try aggregate(QuerySource(descriptor)) { query in
                var plan = AggregatePlan()
                if let groupedBy { plan.group(by: try column(groupedBy, of: query, for: nil)) }
                for term in terms {
                    plan.add(
                        term.function, try term.keyPath.map { try column($0, of: query, for: term.function) })
                }
                return plan
            }
        }
    }

    /// Throws what a migration stage is told of, too.
    fileprivate func refuse<Value>(_ text: String) throws -> Value {
        try throwing { throw SwiftDataError.unsupportedKeyPath.explained(text) }
    }

    private func column<T: PersistentModel>(
        _ keyPath: PartialKeyPath<T>, of query: Query<T>, for function: AggregateFunction?
    ) throws -> AggregateColumn {
        guard let slot = T._$modelType.slots[keyPath] else {
            throw SwiftDataError.unsupportedKeyPath.explained(
                "\(keyPath) is no stored property of \(query.entity.name), and cannot be computed with.")
        }
        if function == .minimum || function == .maximum, Query<T>.ordersByItself(type(of: keyPath).valueType) {
            throw SwiftDataError.unsupportedKeyPath.explained(
                "\(keyPath) is kept as its raw value, whose order may be another than the type's own.")
        }
        return try aggregateColumn(slot, of: query, for: function)
    }

    /// The key of a group as the property has it.
    fileprivate func key<T: PersistentModel, Key>(_ value: RowValue, _ keyPath: KeyPath<T, Key>) throws -> Key {
        if case .identifier(let bits) = value, let slot = T._$modelType.slots[keyPath],
            case .toOne(let relationship)? = try require(T.self).entity?.slots[slot],
            let target = object(ObjectReference(bits: bits), homes[relationship.destination]) as? Key
        {
            return target
        }
        if let key = FetchedValue.make(value, Key.self) { return key }
        return try refuse("\(keyPath) has \(value), for which \(Key.self) has no value.")
    }
}
