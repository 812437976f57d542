internal import FaultlineModel

/// The mappings of a file and the entities of both models, by their names.
struct MappingIndex {
    /// The first mapping with each name.
    private(set) var mappings: [String: MappingModelFile.Mapping] = [:]
    /// The new entities that mappings make objects of.
    private(set) var made: Set<String> = []
    /// The new entities that mappings make of each old one.
    private(set) var madeOf: [String: Set<String>] = [:]
    /// The old entities that others inherit from.
    let oldSuperentities: Set<String>
    /// The new entities at and below each of them.
    private(set) var newFamilies: [String: Set<String>] = [:]

    init(_ mappings: [MappingModelFile.Mapping], from source: Schema, to destination: Schema) {
        oldSuperentities = Set(source.entities.compactMap(\.superentityName))
        for mapping in mappings {
            if self.mappings[mapping.name] == nil { self.mappings[mapping.name] = mapping }
            guard let new = mapping.destinationEntityName else { continue }
            made.insert(new)
            if let old = mapping.sourceEntityName { madeOf[old, default: []].insert(new) }
        }
        for entity in destination.entities {
            var above: String? = entity.name
            // A hierarchy is at most as deep as there are entities.
            var depth = 0
            while let name = above, depth <= destination.entities.count {
                newFamilies[name, default: []].insert(entity.name)
                above = destination.entitiesByName[name]?.superentityName
                depth += 1
            }
        }
    }
}
