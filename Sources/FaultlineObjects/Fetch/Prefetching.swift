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
    init<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, _ entity: EntityStorage) throws {
        // Not `isEmpty`: see `fetchByUniqueValue`.
        if descriptor.propertiesToFetch.count == 0, descriptor.relationshipKeyPathsForPrefetching.count == 0 {
            (loadsRows, paths) = (false, [])
            return
        }
        for keyPath in descriptor.propertiesToFetch where T._$modelType.slots[keyPath] == nil {
            throw SwiftDataError.unsupportedKeyPath.explained(
                "propertiesToFetch has \(keyPath), which is no stored property of \(entity.name).")
        }
        loadsRows = !descriptor.propertiesToFetch.isEmpty
        paths = try descriptor.relationshipKeyPathsForPrefetching.map { keyPath in
            guard let slot = T._$modelType.slots[keyPath], entity.slots[slot] != .attribute else {
                throw SwiftDataError.unsupportedKeyPath.explained(
                    "relationshipKeyPathsForPrefetching has \(keyPath), which is no relationship of \(entity.name). Paths over several relationships are for a FetchRequest."
                )
            }
            return [slot]
        }
    }

    /// - Throws: `SwiftDataError.unsupportedKeyPath` for a name that is no property, or no relationship.
    init(_ request: FetchRequest, _ type: ModelType, _ context: ContextCore) throws {
        for key in request.propertiesToFetch where type.slotsByName[key] == nil {
            throw SwiftDataError.unsupportedKeyPath.explained(NearestName.unknown(key, among: type.entity))
        }
        loadsRows = !request.propertiesToFetch.isEmpty
        paths = try request.relationshipKeyPathsForPrefetching.map { path in
            var place = type
            return try path.split(separator: ".", omittingEmptySubsequences: false).map { key in
                let key = String(key)
                guard let slot = place.slotsByName[key] else {
                    throw SwiftDataError.unsupportedKeyPath.explained(NearestName.unknown(key, among: place.entity))
                }
                guard let relationship = place.properties[slot].asRelationship else {
                    throw SwiftDataError.unsupportedKeyPath.explained(
                        "\(place.entityName).\(key) is no relationship, and cannot be prefetched.")
                }
                place = try context.requireDynamic(relationship.destination)
                return slot
            }
        }
    }
}
