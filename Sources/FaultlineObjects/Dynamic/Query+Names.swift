internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

extension QuerySource {
    /// A fetch of the objects of a class that a request selects by the names of its properties.
    init(_ request: FetchRequest, of type: T.Type) {
        self.init { context in
            // A data store of the user's knows no filters by name: it gives all objects of the class.
            if let link = context.link { try link.load(FetchDescriptor<T>()) }
            return try Query(request, context)
        }
    }
}

extension Query {
    /// Prepares a fetch by names.
    ///
    /// - Throws: As `ModelContext.fetch(_:)` of a request.
    init(_ request: FetchRequest, _ context: ContextCore) throws {
        let entity = try context.entity(named: request.entityName)
        let prepared = try request.filter.map {
            try PreparedFilter($0, entity, context, includingPendingChanges: request.includesPendingChanges)
        }
        var lowered = prepared?.lowered ?? .everything
        let ofEntity = entity.filter(withSubentities: request.includesSubentities)
        if let ofEntity { lowered = LoweredFilter(filter: ofEntity, isExact: true).and(lowered) }
        if lowered.filter.conjuncts.contains(.never) { lowered.candidates = [] }
        var descriptor = FetchDescriptor<T>()
        descriptor.fetchLimit = request.fetchLimit
        descriptor.fetchOffset = request.fetchOffset
        descriptor.includePendingChanges = request.includesPendingChanges
        descriptor.leavesOutSubclasses = !request.includesSubentities
        var isWanted: ((T) throws -> Bool)?
        if prepared != nil || ofEntity != nil {
            isWanted = { object in
                let handle = ObjectHandle(object)
                guard ofEntity == nil || entity.has(handle, withSubentities: request.includesSubentities) else {
                    return false
                }
                return try prepared?.isSatisfied(by: handle) ?? true
            }
        }
        self.init(
            home: entity.home, entity: entity.storage, lowered: lowered, isWanted: isWanted,
            order: try request.sortedBy.map { (try $0.slot(in: entity), $0.isAscending) },
            prefetching: try Prefetching(request, entity, context), descriptor: descriptor)
    }
}

extension FetchRequest.Order {
    /// The slot of the property.
    fileprivate func slot(in entity: NamedEntity) throws -> Int {
        guard let named = entity.property(named: key) else {
            throw SwiftDataError.unsupportedSortDescriptor.explained(entity.unknown(key))
        }
        let storage = entity.storage
        guard storage.slots[named.slot] == .attribute,
            storage.layout.columns[named.slot].kind != .attribute(.codable),
            !storage.ephemeralSlots.contains(named.slot)
        else {
            throw SwiftDataError.unsupportedSortDescriptor.explained(
                "\(entity.name).\(key) is a relationship, an encoded or an ephemeral value, which rows have no order of. Sort by a scalar attribute."
            )
        }
        return named.slot
    }
}
