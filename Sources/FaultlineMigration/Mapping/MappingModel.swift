/// How the objects of one version become those of the next, entity by entity: values, made without model classes.
///
/// The mappings are worked off in three passes: in the first the new objects are made, in the second they are related,
/// in the third they are checked; within a pass in the order of `entityMappings`. Memory does not follow the store:
/// objects are made and related in batches, and which of the old objects became which of the new ones is kept in the
/// store itself.
///
/// Entities of the new version that are no mapping's destination go over as in a lightweight stage.
public struct MappingModel: Sendable {
    /// One for each way in which an old entity becomes a new one, in the order in which they are worked off.
    public var entityMappings: [EntityMapping]

    /// Makes a model of mappings.
    public init(_ entityMappings: EntityMapping...) { self.entityMappings = entityMappings }

    /// Makes a model of mappings.
    public init(entityMappings: [EntityMapping]) { self.entityMappings = entityMappings }

    /// The mappings by name; of several with one name, the first.
    public var entityMappingsByName: [String: EntityMapping] {
        Dictionary(entityMappings.map { ($0.name, $0) }) { first, _ in first }
    }
}
