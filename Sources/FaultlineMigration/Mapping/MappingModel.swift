/// Describes how the objects of one version become those of the next, entity by entity: values, made without model
/// classes.
///
/// The mappings run in three passes: the first makes the new objects, the second relates them, the third checks them;
/// each pass follows the order of `entityMappings`. Memory does not grow with the store: objects are made and related
/// in batches, and the pairs of old and new objects are kept in the store itself.
///
/// Entities of the new version that are no mapping's destination are carried over as in a lightweight stage.
public struct MappingModel: Sendable {
    /// One for each way in which an old entity becomes a new one, in the order of their execution.
    public var entityMappings: [EntityMapping]
    /// The class of the manager that policies and expressions get; of several models of one stage, the first that names
    /// a subclass has its way.
    public var managerClass: MigrationManager.Type = MigrationManager.self

    /// Makes a model of mappings.
    public init(_ entityMappings: EntityMapping...) { self.entityMappings = entityMappings }

    /// Makes a model of mappings.
    public init(entityMappings: [EntityMapping]) { self.entityMappings = entityMappings }

    /// The mappings by name; if several have one name, the first.
    ///
    /// - Complexity: O(m) for m mappings.
    public var entityMappingsByName: [String: EntityMapping] {
        Dictionary(entityMappings.map { ($0.name, $0) }) { first, _ in first }
    }
}
