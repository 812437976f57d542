internal import FaultlineStore

// Aggregates over the objects that a fetch finds, computed on the stored bytes.

/// Objects with one value of a property, and the aggregates over them.
public struct FetchedGroup<Key, each Value> {
    /// The value of the property.
    public let key: Key
    /// The aggregates: one value, or a tuple of several.
    public let values: (repeat each Value)

    init(key: Key, values: (repeat each Value)) {
        self.key = key
        self.values = values
    }
}

extension ModelContext {
    /// Computes aggregates over the objects that a descriptor selects, in one pass.
    ///
    ///     let (count, oldest) = try context.fetchAggregates(FetchDescriptor<Person>(), .count, .maximum(\.age))
    ///
    /// No object is made and no fault fires if the stored bytes can evaluate the predicate; if not, each candidate is
    /// made, evaluated and released. A limit or an offset cuts the objects, not the values.
    ///
    /// - Parameters:
    ///   - descriptor: Selects the objects.
    ///   - aggregates: The values to compute.
    /// - Returns: A value for each aggregate.
    /// - Throws: The errors of `fetch`; `SwiftDataError.unsupportedKeyPath` for a key path whose values cannot be
    ///   aggregated, or a sum that `Int` does not hold.
    /// - Complexity: O(n) for n checked rows, which `explain(_:)` counts; memory for one row.
    public func fetchAggregates<T: PersistentModel, each Value>(
        _ descriptor: FetchDescriptor<T>, _ aggregates: repeat Aggregate<T, each Value>
    ) throws -> (repeat each Value) {
        // The closures do not capture the aggregates: the evaluation of rows does not depend on their value types.
        let core = core(of: T.self)
        var terms: [AggregateTerm<T>] = []
        repeat terms.append(AggregateTerm(each aggregates))
        let groups = try AggregateRunner(core).computedGroups(descriptor, nil, terms)
        var values = AggregateResults(groups[0], core)
        return (repeat try values.next(each aggregates))
    }

    /// Computes aggregates over the objects that a descriptor selects, for each value of a property.
    ///
    ///     let crowded = try context.fetchGroups(
    ///         FetchDescriptor<Person>(), by: \.city, .count, .average(\.age), having: { $0.values.0 > 1_000 })
    ///
    /// Nil is a group of its own. If the property is a to-one relationship, the keys are its objects, as faults; no
    /// other object is made and no fault fires if the stored bytes can evaluate the predicate.
    ///
    /// - Parameters:
    ///   - descriptor: Selects the objects; its limit and offset cut the groups, its order is ignored.
    ///   - keyPath: The property by which objects are grouped.
    ///   - aggregates: The values to compute for each group.
    ///   - isWanted: Selects the groups.
    /// - Returns: The groups in the order of their keys.
    /// - Throws: As `fetchAggregates`; the errors of `isWanted`.
    /// - Complexity: O(n + g log g) for n checked rows and g groups; memory for all groups.
    public func fetchGroups<T: PersistentModel, Key, each Value>(
        _ descriptor: FetchDescriptor<T>, by keyPath: KeyPath<T, Key>,
        _ aggregates: repeat Aggregate<T, each Value>,
        having isWanted: (FetchedGroup<Key, repeat each Value>) throws -> Bool = { _ in true }
    ) throws -> [FetchedGroup<Key, repeat each Value>] {
        let core = core(of: T.self)
        var all = descriptor
        all.sortBy = []
        all.fetchLimit = nil
        all.fetchOffset = nil
        var terms: [AggregateTerm<T>] = []
        repeat terms.append(AggregateTerm(each aggregates))
        var found: [FetchedGroup<Key, repeat each Value>] = []
        for group in try AggregateRunner(core).computedGroups(all, keyPath, terms) {
            var values = AggregateResults(group, core)
            let key = try AggregateRunner(core).key(group.keyValues[0], keyPath)
            let computed = FetchedGroup(key: key, values: (repeat try values.next(each aggregates)))
            if try isWanted(computed) { found.append(computed) }
        }
        return found.window(of: descriptor)
    }

    /// The distinct values of a property in the objects that a descriptor selects, in their order.
    ///
    /// Equal values count once; nil counts as a value. No object is made if the stored bytes can evaluate the
    /// predicate.
    ///
    /// - Parameters:
    ///   - keyPath: A stored attribute, or a to-one relationship, whose objects are then returned as faults.
    ///   - descriptor: Selects the objects; its limit and offset cut the values, its order is ignored.
    /// - Returns: Each value once.
    /// - Throws: As `fetchAggregates`.
    /// - Complexity: As `fetchGroups`, with a group for each value.
    public func fetchDistinct<T: PersistentModel, Value>(
        _ keyPath: KeyPath<T, Value>, _ descriptor: FetchDescriptor<T> = FetchDescriptor<T>()
    ) throws -> [Value] {
        try fetchGroups(descriptor, by: keyPath, .count).map(\.key)
    }
}

/// The part of an aggregate that does not depend on its value type.
private struct AggregateTerm<T: PersistentModel> {
    let function: AggregateFunction
    let keyPath: PartialKeyPath<T>?

    init<Value>(_ aggregate: Aggregate<T, Value>) {
        function = aggregate.function
        keyPath = aggregate.keyPath
    }
}

/// Returns the values of one group, in the order of the aggregates.
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
        return try AggregateRunner(context).refuse(
            "The \(aggregate.function) is \(computed), which \(Value.self) does not hold.")
    }
}

extension AggregateRunner {
    fileprivate func computedGroups<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, _ groupedBy: PartialKeyPath<T>?, _ terms: [AggregateTerm<T>]
    ) throws -> [AggregateGroup] {
        try context.throwing {
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

    /// Throws an error that a migration stage records, too.
    fileprivate func refuse<Value>(_ text: String) throws -> Value {
        try context.throwing { throw SwiftDataError.unsupportedKeyPath.explained(text) }
    }

    private func column<T: PersistentModel>(
        _ keyPath: PartialKeyPath<T>, of query: Query<T>, for function: AggregateFunction?
    ) throws -> AggregateColumn {
        guard let slot = context.slot(of: keyPath, T.self) else {
            throw SwiftDataError.unsupportedKeyPath.explained(
                "\(keyPath) is no stored property of \(query.entity.name), and cannot be computed with.")
        }
        if function == .minimum || function == .maximum, Query<T>.ordersByItself(type(of: keyPath).valueType) {
            throw SwiftDataError.unsupportedKeyPath.explained(
                "\(keyPath) is kept as its raw value, whose order may be another than the type's own.")
        }
        return try aggregateColumn(slot, of: query, for: function)
    }

    /// The key of a group as the type of the property.
    fileprivate func key<T: PersistentModel, Key>(_ value: RowValue, _ keyPath: KeyPath<T, Key>) throws -> Key {
        if case .identifier(let bits) = value, let slot = context.slot(of: keyPath, T.self),
            case .toOne(let relationship)? = try context.require(T.self).entity?.slots[slot],
            let target = ObjectRegistry(context).object(
                ObjectReference(bits: bits), context.homes[relationship.destination]) as? Key
        {
            return target
        }
        if let key = FetchedValue.make(value, Key.self) { return key }
        return try refuse("\(keyPath) has \(value), for which \(Key.self) has no value.")
    }
}
