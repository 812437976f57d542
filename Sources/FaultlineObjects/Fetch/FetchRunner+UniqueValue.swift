internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore
internal import Foundation

// The most frequent fetch of services: one object by the value of a unique attribute.

/// The answer of a look-up of a unique value.
@usableFromInline
enum UniqueAnswer {
    /// The condition is another one, or the answer must be found another way.
    case unknown
    case nothing
    case object(AnyObject)
}

extension FetchRunner {
    /// The object that satisfies `$0.property == constant` for a unique attribute of a class without unsaved objects.
    ///
    /// - Complexity: A look-up in the index.
    func uniqueAnswer(
        _ expression: any StandardPredicateExpression<Bool>, _ variable: PredicateExpressions.VariableID,
        _ type: ModelType
    ) throws -> UniqueAnswer {
        guard let home = context.home(of: type), let entity = home.entity, !entity.uniqueIndexes.isEmpty,
            !context.pending.hasPending(home), let equality = PropertyEquality(expression, variable, home),
            let slot = home.slot(of: equality.keyPath)
        else { return .unknown }
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
        guard let holder = try holder(of: equality.value, slot, home, entity) else { return .unknown }
        guard holder.isFound else { return .nothing }
        let object = ObjectRegistry(context).anyObject(holder.number, home, row: holder.row)
        return object.map { .object($0) } ?? .unknown
    }

    /// Finds the objects for a descriptor that has only the condition `$0.property == constant` on a unique attribute.
    ///
    /// Makes neither a query nor a filter: looks the value up in the index, and, by its key, among the unsaved objects.
    ///
    /// - Returns: Nil if it has other conditions, or the answer must be found another way.
    /// - Complexity: A look-up in the index; O(objects inserted or changed since the last call).
    func fetchByUniqueValue<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T]? {
        guard let predicate = descriptor.predicate, let home = context.home(of: T._$modelType),
            let entity = home.entity,
            !entity.uniqueIndexes.isEmpty, (descriptor.fetchOffset ?? 0) <= 0,
            // Not `isEmpty`, which takes hundreds of instructions more for elements of a generic type.
            descriptor.sortBy.count == 0, descriptor.propertiesToFetch.count == 0,
            descriptor.relationshipKeyPathsForPrefetching.count == 0,
            descriptor.relationshipPathsForPrefetching.count == 0,
            let equality = PropertyEquality(predicate.expression, predicate.variable.key, home),
            let slot = home.slot(of: equality.keyPath)
        else { return nil }
        guard descriptor.includePendingChanges || !context.pending.hasPending(home) else { return nil }
        let found = try objects(having: equality.value, slot, home, entity, as: T.self)
        guard let found, let limit = descriptor.fetchLimit, limit > 0, limit < found.count else { return found }
        return Array(found.prefix(limit))
    }

    /// The first object whose attribute has a value: by its index if it is unique, else by a fetch of one object.
    ///
    /// - Complexity: As that of `fetchByUniqueValue`, or of the fetch.
    func first<T: PersistentModel, V: Codable & Equatable & Sendable>(
        _ keyPath: any KeyPath<T, V> & Sendable, equals value: V
    ) throws -> T? {
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
        if context.link == nil, let home = context.home(of: T._$modelType), let entity = home.entity,
            let slot = home.slot(of: keyPath), let constant = PredicateLowering.constant(of: value)
        {
            if context.pending.hasPending(home) {
                if let found = try objects(having: constant, slot, home, entity, as: T.self) { return found.first }
            } else if let holder = try holder(of: constant, slot, home, entity) {
                guard holder.isFound else { return nil }
                return ObjectRegistry(context).object(holder.number, home, row: holder.row, as: T.self)
            }
        }
        var descriptor = FetchDescriptor<T>(
            predicate: Predicate<T> { object in
                PredicateExpressions.build_Equal(
                    lhs: PredicateExpressions.build_KeyPath(
                        root: PredicateExpressions.build_Arg(object), keyPath: keyPath),
                    rhs: PredicateExpressions.build_Arg(value))
            })
        descriptor.fetchLimit = 1
        return try fetch(descriptor).first
    }

    /// The result of a query that has only a condition for one value of a unique attribute.
    ///
    /// - Returns: Nil if it has other conditions, or the answer must be found another way.
    func fetchUnique<T: PersistentModel>(_ query: Query<T>) throws -> [T]? {
        guard let (slot, value) = query.onlyUniqueKey, !context.pending.hasPending(query.home) else { return nil }
        return try objects(having: value, slot, query.home, query.entity, as: T.self)
    }

    /// The stored and unsaved objects that have a value of a unique attribute, in the order of a fetch.
    ///
    /// - Returns: Nil if the answer must be found another way.
    private func objects<T: PersistentModel>(
        having value: RowValue, _ slot: Int, _ home: EntityHome, _ entity: EntityStorage, as type: T.Type
    ) throws -> [T]? {
        let hasPending = context.pending.hasPending(home)
        let differing = hasPending ? context.pending.differingNumbers(home) : [:]
        guard let holder = try holder(of: value, slot, home, entity, without: differing) else { return nil }
        var found: [T] = []
        if holder.isFound {
            found.append(ObjectRegistry(context).object(holder.number, home, row: holder.row, as: T.self))
        }
        guard hasPending else { return found }
        context.pending.bringBack(of: home)
        // The writer still has the key.
        let candidates = context.keyWriter.withBytes {
            context.pending.lookup.objects(home, entity.ordinal, context.pending.lists, slot: slot, key: $0)
        }
        for handle in candidates where !handle.core.pointee.has(.deleted) {
            guard let draft = handle.core.pointee.draft,
                let isHeld = context.keyWriter.isKey(of: draft, slot: slot)
            else { return nil }
            if isHeld, let object = handle.object as? T { found.append(object) }
        }
        return found
    }

    /// The stored object that has a value of a unique attribute.
    private struct Holder {
        /// 0 if there is none.
        let number: RecordID
        let row: RowReference

        static let none = Holder(number: 0, row: .none)

        var isFound: Bool { number != 0 }
    }

    /// The stored object that has a value of a unique attribute; leaves the value's key in the context's writer.
    ///
    /// Compares the row's own key with the one that was looked up, which takes a tenth of compiling a filter for it.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - slot: The attribute.
    ///   - home: The entity's home.
    ///   - entity: The entity.
    ///   - differing: Objects whose rows are ignored.
    /// - Returns: Nil if the answer must be found another way.
    /// - Throws: `LogError` or `StoreError` if the store cannot be read.
    private func holder(
        of value: RowValue, _ slot: Int, _ home: EntityHome, _ entity: EntityStorage,
        without differing: [RecordID: Int] = [:]
    ) throws -> Holder? {
        guard let index = home.uniqueIndex(comparedAt: slot) else { return nil }
        context.keyWriter.removeAll()
        guard context.keyWriter.append(value, as: entity.layout.columns[slot].kind) else { return nil }
        let holder = try context.keyWriter.withBytes { (bytes) throws(LogError) in
            try context.hold.firstID(in: index, key: bytes)
        }
        guard let number = holder, differing.isEmpty || differing[number] == nil else { return Holder.none }
        guard number <= ModelCore.numberMask,
            let (row, reference) = try RowCache(context).rowInMemory(number, home, entity),
            context.keyWriter.isKey(of: RowArena.view(row), slot: slot) == true
        else { return nil }
        return Holder(number: number, row: reference)
    }
}

extension EntityStorage {
    /// The unique index of one attribute whose keys are equal exactly if its values are.
    ///
    /// Not for floating-point attributes: in an index not-a-number equals itself.
    func uniqueIndex(comparedAt slot: Int) -> UniqueIndex? {
        guard slot < slots.count, case .attribute = slots[slot], case .attribute(let kind) = layout.columns[slot].kind,
            kind != .float, kind != .double, kind != .date
        else { return nil }
        return uniqueIndexes.first { $0.slots.count == 1 && $0.slots[0] == slot }
    }
}

extension Query {
    /// The constant that a unique attribute must equal, if there is no other condition and no other order.
    fileprivate var onlyUniqueKey: (slot: Int, value: RowValue)? {
        guard lowered.isExact, lowered.candidates == nil, order?.isEmpty == true, (descriptor.fetchOffset ?? 0) <= 0,
            case .compare(let slot, .equal, let value) = lowered.filter
        else { return nil }
        return (slot, value)
    }
}
