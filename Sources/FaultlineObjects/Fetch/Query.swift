internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore
internal import Foundation

/// A fetch descriptor prepared for one context: what is asked of the stored bytes, and what is left to objects.
struct Query<T: PersistentModel> {
    let home: EntityHome
    let entity: EntityStorage
    let lowered: LoweredFilter
    /// What the stored bytes are asked for references that lead to nothing.
    private let targets: [ReferenceTargets]
    let predicate: Predicate<T>?
    /// Sort keys as slots; nil where a descriptor names no stored property, so that objects have to be sorted.
    let order: [(slot: Int, isAscending: Bool)]?
    let descriptor: FetchDescriptor<T>

    init(_ descriptor: FetchDescriptor<T>, _ context: ContextCore) throws {
        home = try context.require(T.self)
        guard let entity = home.entity else {
            throw SwiftDataError.unknownSchema.explained("\(T.self) has no table in this store.")
        }
        self.entity = entity
        self.descriptor = descriptor
        predicate = descriptor.predicate
        let slots = T._$modelType.slots.filter { if case .toMany = entity.slots[$0.value] { false } else { true } }
        let storeID = context.store.log.storeID
        var lowered = LoweredFilter(filter: .always, isExact: true)
        if let predicate = descriptor.predicate {
            lowered = PredicateLowering.lower(predicate) { variable in
                LoweringScope(
                    variable: variable, slots: slots, kinds: entity.layout.columns.map(\.kind),
                    number: { !$0.isTemporary && $0.storeID == storeID ? $0.number : nil },
                    targets: {
                        context.targets(
                            of: entity, $0, includingPendingChanges: descriptor.includePendingChanges)
                    })
            }
            // Nothing need be read where no row can match.
            if lowered.filter.conjuncts.contains(.never) { lowered.candidates = [] }
        }
        self.lowered = lowered
        targets = lowered.filter.targets
        order = Self.order(descriptor.sortBy, slots, entity)
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

    /// Whether a type's order may be another than that of the values stored for it.
    private static func ordersByItself(_ type: any Any.Type) -> Bool {
        if type is any RawRepresentable.Type { return true }
        return (type as? any OptionalValue.Type)?.wrappedType is any RawRepresentable.Type
    }

    /// Throws what could not be told while rows were matched.
    func checkTargets() throws { for targets in targets { try targets.check() } }

    /// Whether every object of the entity is asked for, in the order of creation.
    var isEverything: Bool { predicate == nil && descriptor.sortBy.isEmpty }

    /// A constant that a unique attribute must equal, with its index: then at most one row is looked at.
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
    /// The conditions that all must hold.
    var conjuncts: [RowFilter] {
        if case .and(let parts) = self { return parts.flatMap(\.conjuncts) }
        return [self]
    }
}
