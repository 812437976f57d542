internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore
internal import Foundation

/// A fetch, by model class or by name, before it is prepared for a context.
struct QuerySource<T: PersistentModel> {
    let prepare: (ContextCore) throws -> Query<T>
    /// The descriptor of a fetch by model class.
    let descriptor: FetchDescriptor<T>?

    init(_ descriptor: FetchDescriptor<T>) {
        self.descriptor = descriptor
        prepare = { context in
            if let link = context.link { try link.load(descriptor) }
            return try Query(descriptor, context)
        }
    }

    /// A fetch of objects that the data store of the container has loaded.
    init(ofLoaded descriptor: FetchDescriptor<T>) {
        self.descriptor = nil
        prepare = { try Query(descriptor, $0) }
    }

    /// A fetch by the names of an entity and its properties.
    init(prepare: @escaping (ContextCore) throws -> Query<T>) {
        descriptor = nil
        self.prepare = prepare
    }
}

/// A fetch prepared for one context: conditions for the stored bytes, and the rest for objects.
struct Query<T: PersistentModel> {
    let home: EntityHome
    let entity: EntityStorage
    let lowered: LoweredFilter
    /// The conditions that `lowered` does not decide; nil for none, and for those of a fetch by name.
    let condition: RowCondition?
    /// The targets of references, which the stored bytes need to detect dangling ones.
    private let targets: [ReferenceTargets]
    /// Evaluates the rest of the filter on an object; nil if there is none.
    let isWanted: ((T) throws -> Bool)?
    /// Sort keys as slots; nil if a descriptor names no stored property, so that objects must be sorted.
    let order: [(slot: Int, isAscending: Bool)]?
    /// The part of a secondary index that finds the rows; nil for none.
    let selection: IndexSelection?
    /// The rows to load along with the objects.
    let prefetching: Prefetching
    /// The window, and whether unsaved changes count.
    let descriptor: FetchDescriptor<T>

    init(_ descriptor: FetchDescriptor<T>, _ context: ContextCore) throws {
        let home = try context.require(T.self)
        self.home = home
        guard let entity = home.entity else {
            throw SwiftDataError.unknownSchema.explained("\(T.self) has no table in this store.")
        }
        self.entity = entity
        self.descriptor = descriptor
        let countsPending = descriptor.includePendingChanges
        var lowered = LoweredFilter(filter: .always, isExact: true)
        if let predicate = descriptor.predicate {
            lowered = PredicateLowering.lower(predicate) { variable in
                LoweringScope(variable, home, entity, context, countsPending: countsPending)
            }
        }
        condition =
            lowered.isExact
            ? nil
            : descriptor.predicate.map { RowCondition($0, home, entity, context, countsPending: countsPending) }
        let ofClass = try home.filter(of: T.self, withSubclasses: !descriptor.leavesOutSubclasses)
        if let ofClass { lowered = LoweredFilter(filter: ofClass, isExact: true).and(lowered) }
        // Nothing is read if no row can match.
        if lowered.filter.conjuncts.contains(.never) { lowered.candidates = [] }
        self.lowered = lowered
        let isWanted = try Self.question(descriptor.predicate, isAnsweredByRows: lowered.isExact, home)
        self.isWanted = ofClass == nil ? isWanted : Self.question(isWanted, ofExactly: T.self, descriptor)
        targets = lowered.filter.targets
        order = Self.order(descriptor.sortBy, home.rowSlots, entity)
        selection = Self.selection(lowered, order, isLimited: (descriptor.fetchLimit ?? 0) > 0, entity)
        prefetching = try Prefetching(descriptor, home, context)
    }

    /// - Parameters:
    ///   - home: The home of the objects.
    ///   - entity: Their table.
    ///   - lowered: The conditions for the stored bytes.
    ///   - isWanted: The condition for an object; nil for none.
    ///   - order: The sort keys.
    ///   - prefetching: The rows to load along with the objects.
    ///   - descriptor: The window, and whether unsaved changes count.
    init(
        home: EntityHome, entity: EntityStorage, lowered: LoweredFilter, isWanted: ((T) throws -> Bool)?,
        order: [(slot: Int, isAscending: Bool)], prefetching: Prefetching, descriptor: FetchDescriptor<T>
    ) {
        self.home = home
        self.entity = entity
        self.lowered = lowered
        condition = nil
        self.isWanted = isWanted
        self.order = order
        self.prefetching = prefetching
        self.descriptor = descriptor
        targets = lowered.filter.targets
        selection = Self.selection(lowered, order, isLimited: (descriptor.fetchLimit ?? 0) > 0, entity)
    }

    /// The condition for an object that rows cannot answer, or that has unsaved values.
    private static func question(
        _ predicate: Predicate<T>?, isAnsweredByRows: Bool, _ home: EntityHome
    ) throws -> ((T) throws -> Bool)? {
        guard let predicate else { return nil }
        // Rows compare with ranges, but do no arithmetic that could fail. Prepared for the first evaluated object:
        // mostly there is none.
        if isAnsweredByRows {
            var prepared: CheckedPredicate<T>?
            return { object in
                let checked = try prepared ?? CheckedPredicate(predicate)
                prepared = checked
                return try checked.evaluate(object)
            }
        }
        let checked = try CheckedPredicate(predicate)
        return { object in
            do { return try checked.evaluate(object) } catch let failure as ArithmeticFailure {
                throw explain(failure, object, home)
            }
        }
    }

    /// The condition for an object of one of several classes of a table.
    private static func question(
        _ isWanted: ((T) throws -> Bool)?, ofExactly type: T.Type, _ descriptor: FetchDescriptor<T>
    ) -> (T) throws -> Bool {
        guard descriptor.leavesOutSubclasses else { return isWanted ?? { _ in true } }
        return { try Swift.type(of: $0)._$modelType === type._$modelType && isWanted?($0) ?? true }
    }

    private static func order(
        _ descriptors: [SortDescriptor<T>], _ slots: [AnyKeyPath: Int], _ entity: EntityStorage
    ) -> [(slot: Int, isAscending: Bool)]? {
        var order: [(slot: Int, isAscending: Bool)] = []
        for descriptor in descriptors {
            guard let keyPath = descriptor.keyPath, let slot = slots[keyPath],
                entity.slots[slot] == .attribute, entity.layout.columns[slot].kind != .attribute(.codable),
                descriptor.stringComparator == nil || descriptor.stringComparator == .lexical,
                !ordersByItself(type(of: keyPath).valueType)
            else { return nil }
            order.append((slot, descriptor.order == .forward))
        }
        return order
    }

    /// Whether a type's order may differ from that of its stored values.
    static func ordersByItself(_ type: any Any.Type) -> Bool {
        if type is any RawRepresentable.Type { return true }
        return (type as? any OptionalValue.Type)?.wrappedType is any RawRepresentable.Type
    }

    /// Throws errors that could not be thrown while rows were matched.
    func checkTargets() throws { for targets in targets { try targets.check() } }

    /// Whether rows answer the predicate: no object must be made to decide, except for a value that cannot be read.
    var isAnsweredByRows: Bool { lowered.isExact || condition?.isAnswered == true }

    /// Whether the query selects every object of the entity, in the order of creation.
    var isEverything: Bool { isWanted == nil && order?.isEmpty == true }

    /// A constant that a unique attribute must equal, with its index: then at most one row is checked.
    var uniqueKey: (index: UniqueIndex, value: RowValue)? {
        for condition in lowered.filter.conjuncts {
            guard case .compare(let slot, .equal, let value) = condition else { continue }
            if let index = entity.uniqueIndexes.first(where: { $0.slots == [slot] }) { return (index, value) }
        }
        return nil
    }

    /// A target that a to-one slot must have, with the index of its members.
    var memberOwner: (index: IndexDefinition, owner: RecordID)? {
        for condition in lowered.filter.conjuncts {
            guard case .compare(let slot, .equal, .identifier(let owner)) = condition else { continue }
            if let index = entity.memberIndexes.first(where: { $0.slot == slot }) { return (index.definition, owner) }
        }
        return nil
    }
}

extension RowFilter {
    /// The conditions that must all hold.
    var conjuncts: [RowFilter] {
        if case .and(let parts) = self { return parts.flatMap(\.conjuncts) }
        return [self]
    }
}
