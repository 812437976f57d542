internal import FaultlineMigration
internal import FaultlineModel
internal import FaultlineObjects

/// The calls of Core Data's migration manager that expressions make, and their work.
enum CounterpartCall {
    /// The new objects of old ones, by a mapping.
    static let byMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    /// The new objects of old ones, by all mappings that make objects for a relationship.
    static let byRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    /// The old objects of new ones, by a mapping.
    static let sources = "sourceInstancesForEntityMappingNamed:destinationInstances:"

    static let all = [byMapping, byRelationship, sources]

    /// The objects that a call leads to.
    ///
    /// - Parameters:
    ///   - name: The name of the call.
    ///   - mapping: The name of the mapping, or of the relationship.
    ///   - objects: The objects that it begins with.
    ///   - entities: The entities whose objects a relationship takes.
    ///   - manager: The manager of the migration.
    /// - Returns: The objects, in the order of those that the call begins with.
    /// - Throws: `MigrationError.stageFailed` if there is no such mapping.
    static func objects(
        _ name: String, _ mapping: String, _ objects: [ManagedObject], _ entities: Set<String>,
        _ manager: MigrationManager
    ) throws -> [ManagedObject] {
        switch name {
        case byMapping:
            return try manager.FaultlineMigration::destinationInstances(
                forEntityMappingName: mapping, sourceInstances: objects)
        case sources:
            return try manager.FaultlineMigration::sourceInstances(
                forEntityMappingName: mapping, destinationInstances: objects)
        default:
            let mappings = manager.mappingModel.entityMappings.filter {
                entities.isEmpty || $0.destinationEntityName.map(entities.contains) == true
            }
            return try objects.flatMap { object in
                try mappings.filter { $0.sourceEntityName == object.entity.name }.flatMap { mapping in
                    try manager.FaultlineMigration::destinationInstances(
                        forEntityMappingName: mapping.name, sourceInstances: [object])
                }
            }
        }
    }
}
