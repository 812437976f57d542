internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore
internal import Foundation

extension ModelContext {
    /// Computes aggregates over the objects of an entity, for each group in the order of the groups' keys.
    ///
    /// No object is made and no fault fires if the stored bytes can evaluate the filter; the key of a relationship is
    /// its object's `PersistentIdentifier`.
    ///
    /// - Parameter request: Selects the objects, the aggregates and the groups.
    /// - Returns: For each group its keys and values by name, without nil values. One result if there is nothing to
    ///   group by, also without objects.
    /// - Throws: As `fetch(_:)` of a `FetchRequest`; `SwiftDataError.unsupportedKeyPath`, with entity and key, for
    ///   properties that cannot be aggregated; the errors of `having`.
    /// - Complexity: O(n + g log g) for n checked rows and g groups; memory for all groups.
    public func fetch(_ request: AggregateRequest) throws -> [[String: Any]] {
        let core = core(named: request.entityName)
        return try core.throwing(runsOthersCode: true) { try AggregateRunner(core).aggregate(request) }
    }
}

extension AggregateRunner {
    fileprivate func aggregate(_ request: AggregateRequest) throws -> [[String: Any]] {
        let entity = try context.entity(named: request.entityName)
        var source = FetchRequest(entityName: request.entityName, filter: request.filter)
        source.includesPendingChanges = request.includesPendingChanges
        func groups<T: PersistentModel>(_ type: T.Type) throws -> [AggregateGroup] {
            try aggregate(QuerySource(source, of: type)) { query in
                var plan = AggregatePlan()
                for key in request.propertiesToGroupBy {
                    plan.group(by: try aggregateColumn(try named(key, entity).slot, of: query, for: nil))
                }
                for expression in request.expressions {
                    plan.add(
                        expression.function,
                        try expression.key.map {
                            try aggregateColumn(try named($0, entity).slot, of: query, for: expression.function)
                        })
                }
                return plan
            }
        }
        var results: [[String: Any]] = []
        for group in try groups(entity.model) {
            let result = try result(of: group, request, entity)
            if try request.having?(result) ?? true { results.append(result) }
        }
        return results.window(offset: request.fetchOffset, limit: request.fetchLimit)
    }

    private func named(_ key: String, _ entity: NamedEntity) throws -> NamedProperty {
        if let named = entity.property(named: key) { return named }
        throw SwiftDataError.unsupportedKeyPath.explained(entity.unknown(key))
    }

    private func result(
        of group: AggregateGroup, _ request: AggregateRequest, _ entity: NamedEntity
    ) throws -> [String: Any] {
        var result: [String: Any] = [:]
        for (place, key) in request.propertiesToGroupBy.enumerated() {
            result[key] = fetchedValue(group.keyValues[place], of: try named(key, entity), entity)
        }
        for (place, expression) in request.expressions.enumerated() {
            switch group.states[place].value {
            case .whole(let whole):
                guard let whole = Int(exactly: whole) else {
                    throw SwiftDataError.unsupportedKeyPath.explained(
                        "The sum of \(entity.name).\(expression.key ?? "") is \(whole), which Int does not hold.")
                }
                result[expression.name] = whole
            case .fraction(let fraction): result[expression.name] = fraction
            case .decimal(let decimal): result[expression.name] = decimal
            case .stored(let stored):
                guard let key = expression.key else { continue }
                result[expression.name] = fetchedValue(stored, of: try named(key, entity), entity)
            }
        }
        return result
    }

    /// A stored value as `value(forKey:)` returns it; nil for nil.
    private func fetchedValue(_ value: RowValue, of named: NamedProperty, _ entity: NamedEntity) -> Any? {
        switch value {
        case .null: return nil
        case .identifier(let bits):
            guard case .toOne(let relationship) = entity.storage.slots[named.slot] else { return nil }
            let reference = ObjectReference(bits: bits)
            return reference.isTemporary
                ? context.pending.insertedObject(reference.number).map { $0.core.pointee.persistentIdentifier }
                : PersistentIdentifier(
                    storeID: context.store.log.storeID, entityName: context.homes[relationship.destination].entityName,
                    number: reference.number)
        default:
            guard let attribute = named.property.asAttribute else { return nil }
            return switch attribute.valueTypeName {
            case "Int64": FetchedValue.scalar(value, Int64.self)
            case "UInt64": FetchedValue.scalar(value, UInt64.self)
            default: FetchedValue.scalar(value, attribute.kind.defaultValueType)
            }
        }
    }
}
