internal import FaultlineModel

/// The data of a step's old version that its code gets, or that its mappings read.
struct HandledValues {
    /// Whether a closure gets the objects of all entities.
    private let isAll: Bool
    /// Entities whose objects code gets, or that a mapping of the user removes.
    private var entities: Set<String>
    /// Entities whose objects mappings make new ones of.
    private var mapped: Set<String> = []
    /// Properties that mappings without code read, by entity.
    private var read: [String: Set<String>] = [:]
    /// Those of them that mappings of the user read.
    private var readByUser: [String: Set<String>] = [:]

    init(_ step: MigrationSteps.Step) {
        isAll = step.closures?.willMigrate != nil
        entities = Set(step.streamedEntities.map(\.entityName))
        // The steps have resolved them before, and would not exist otherwise.
        let resolved = try? MappingResolution(
            step.mappingModels, from: step.from, to: step.to, stage: step.name
        ).resolved()
        for mapping in resolved ?? [] { add(mapping) }
    }

    private mutating func add(_ resolved: ResolvedMapping) {
        let mapping = resolved.mapping
        guard let entity = mapping.sourceEntityName else { return }
        let isRemoval = mapping.destinationEntityName == nil
        if mapping.runsCode || isRemoval && !mapping.isInferred { entities.insert(entity) }
        guard !isRemoval else { return }
        mapped.insert(entity)
        read[entity, default: []].formUnion(resolved.readNames)
        if !mapping.isInferred { readByUser[entity, default: []].formUnion(resolved.readNames) }
    }

    /// Whether the step is responsible for the objects of an entity.
    func contains(_ entity: String) -> Bool { isAll || entities.contains(entity) }

    /// Whether a mapping of the user is responsible for a property: it reads it.
    func contains(_ property: String, of entity: String) -> Bool { readByUser[entity]?.contains(property) == true }

    /// Whether a mapping reads a property.
    func isRead(_ property: String, of entity: String) -> Bool { read[entity]?.contains(property) == true }

    /// Whether mappings make new objects of those of an entity.
    func isMapped(_ entity: String) -> Bool { mapped.contains(entity) }
}

extension ResolvedMapping {
    /// The properties of the old entity whose values the new objects get.
    fileprivate var readNames: [String] {
        let ofAttributes: [String] = attributes.compactMap { attribute in
            switch attribute.value {
            case .copied(let name, _, _): name
            case .path(let path): path.split(separator: ".").first.map(String.init)
            case .constant, .computed: nil
            }
        }
        return ofAttributes + relationships.compactMap(\.value.oldName)
    }
}
