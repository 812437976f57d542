internal import FaultlineModel
internal import FaultlineStore

/// The rows that a fetch loads in addition to its result, in slots.
struct Prefetching {
    /// Whether the objects' own rows are loaded.
    let loadsRows: Bool
    /// Slots of relationships that lead from the objects found to those whose rows are loaded.
    let paths: [[Int]]

    var isEmpty: Bool { !loadsRows && paths.isEmpty }

    /// - Throws: `SwiftDataError.unsupportedKeyPath` for a key path that is no stored property, or no relationship.
    init<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, _ home: EntityHome, _ context: ContextCore
    ) throws {
        // Not `isEmpty`: see `fetchByUniqueValue`.
        if descriptor.propertiesToFetch.count == 0, descriptor.relationshipKeyPathsForPrefetching.count == 0,
            descriptor.relationshipPathsForPrefetching.count == 0
        {
            (loadsRows, paths) = (false, [])
            return
        }
        for keyPath in descriptor.propertiesToFetch where home.type?.slots[keyPath] == nil {
            throw SwiftDataError.unsupportedKeyPath.explained(
                "propertiesToFetch has \(keyPath), which is no stored property of \(T._$modelType.entityName).")
        }
        loadsRows = !descriptor.propertiesToFetch.isEmpty
        paths =
            try descriptor.relationshipKeyPathsForPrefetching.map { keyPath in
                guard let step = Self.step(keyPath, home, context) else {
                    throw SwiftDataError.unsupportedKeyPath.explained(
                        "relationshipKeyPathsForPrefetching has \(keyPath), which is no relationship of \(T._$modelType.entityName). Paths over several relationships are for relationshipPathsForPrefetching."
                    )
                }
                return [step.slot]
            } + descriptor.relationshipPathsForPrefetching.map { try Self.slots(of: $0, home, context) }
    }

    /// The slots of a path over several relationships.
    private static func slots(of path: [AnyKeyPath], _ home: EntityHome, _ context: ContextCore) throws -> [Int] {
        var place = home
        return try path.map { keyPath in
            guard let step = step(keyPath, place, context) else {
                throw SwiftDataError.unsupportedKeyPath.explained(
                    "relationshipPathsForPrefetching has \(keyPath) where a relationship of \(place.type?.entityName ?? "a class") must follow. Write [\\Photo.album, \\Album.owner] for the owner of the album of a photo."
                )
            }
            place = step.destination
            return step.slot
        }
    }

    /// The slot of a relationship, and the home of the objects that it leads to; nil for any other key path.
    private static func step(
        _ keyPath: AnyKeyPath, _ home: EntityHome, _ context: ContextCore
    ) -> (slot: Int, destination: EntityHome)? {
        guard let slot = home.type?.slots[keyPath] else { return nil }
        return RowPrefetcher(context).destination(of: slot, home).map { (slot, $0) }
    }

    /// - Throws: `SwiftDataError.unsupportedKeyPath` for a name that is no property, or no relationship.
    init(_ request: FetchRequest, _ entity: NamedEntity, _ context: ContextCore) throws {
        for key in request.propertiesToFetch where entity.property(named: key) == nil {
            throw SwiftDataError.unsupportedKeyPath.explained(entity.unknown(key))
        }
        loadsRows = !request.propertiesToFetch.isEmpty
        paths = try request.relationshipKeyPathsForPrefetching.map { path in
            var place = entity
            return try path.split(separator: ".", omittingEmptySubsequences: false).map { key in
                let key = String(key)
                guard let named = place.property(named: key) else {
                    throw SwiftDataError.unsupportedKeyPath.explained(place.unknown(key))
                }
                guard let relationship = named.property.asRelationship else {
                    throw SwiftDataError.unsupportedKeyPath.explained(
                        "\(place.name).\(key) is no relationship, and cannot be prefetched.")
                }
                place = try context.entity(named: relationship.destination)
                return named.slot
            }
        }
    }
}
