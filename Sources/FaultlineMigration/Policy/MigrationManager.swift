internal import FaultlineLog
public import FaultlineModel
public import FaultlineObjects

/// The migration's interface for policies: both versions, both contexts, and the pairs of old and new objects.
///
/// There is one for each mapped stage. It belongs to the thread that runs the migration.
///
/// A subclass keeps state that the policies of a stage share, such as a table of new objects' identifiers; `MappingModel`
/// names it:
///
///     final class TagManager: MigrationManager {
///         var tags: [String: PersistentIdentifier] = [:]
///     }
///
///     model.managerClass = TagManager.self
///     // In a policy:
///     (manager as? TagManager)?.tags["new"] = tag.objectID
///
/// `FaultlineCoreData` has the calls for pairs without errors, as Core Data has them: so they are disfavored here.
open class MigrationManager {
    /// The schema of the objects that are read.
    public let sourceSchema: Schema
    /// The schema of the objects that are written.
    public let destinationSchema: Schema
    /// Reads the old objects; it cannot be saved.
    public let sourceContext: ModelContext
    /// Writes the new objects.
    ///
    /// The migration saves it, in batches.
    public let destinationContext: ModelContext
    /// The current mapping.
    public internal(set) var currentEntityMapping: EntityMapping?
    /// The finished share of the stage, from 0 to 1.
    public internal(set) var migrationProgress: Float = 0
    /// Whether this is a dry run: its results are dropped, so a policy should skip effects outside of the store.
    public var isDryRun: Bool { sourceContext.isDryRun }
    /// Values that policies share; empty after a restart.
    public var userInfo: [AnyHashable: Any] = [:]

    let stage: any MappedObjects
    /// In the second pass: the first of the old objects that the new one was made of.
    var currentSource: ManagedObject?
    private(set) var cancellation: (any Error)?
    /// The property whose expression has thrown in the current call.
    private var failedProperty: String?

    /// The objects of a stage, for the initializer of its manager.
    public struct Stage {
        let objects: any MappedObjects
        let source: Schema
        let destination: Schema
    }

    /// Makes the manager of a stage: the migration calls it.
    public required init(_ stage: Stage) {
        self.stage = stage.objects
        sourceSchema = stage.source
        destinationSchema = stage.destination
        sourceContext = ModelContext(stage.objects.source.core, owner: nil)
        destinationContext = ModelContext(stage.objects.target.core, owner: nil)
    }

    /// All mappings of the stage, in their order.
    public var mappingModel: MappingModel { MappingModel(entityMappings: stage.mappings.map(\.mapping)) }

    /// The entity whose objects a mapping reads; nil if there is none.
    public func sourceEntity(for mapping: EntityMapping) -> Schema.Entity? {
        mapping.sourceEntityName.flatMap { sourceSchema.entitiesByName[$0] }
    }

    /// The entity whose objects a mapping makes; nil if there is none.
    public func destinationEntity(for mapping: EntityMapping) -> Schema.Entity? {
        mapping.destinationEntityName.flatMap { destinationSchema.entitiesByName[$0] }
    }

    /// Cancels the migration when the current call returns; opening the container throws `error`.
    public func cancelMigrationWithError(_ error: any Error) { cancellation = error }

    // MARK: Pairs of old and new objects

    /// Records that an old object became a new one, so that it is found in the second pass.
    ///
    /// The first new object of the same entity that an old one becomes keeps its identity.
    ///
    /// - Throws: `MigrationError.stageFailed` if the objects are not of the mapping's entities.
    /// - Complexity: O(m) for the m pairs of that one of the two which is in fewer pairs: O(1) if many old objects become
    ///   one, or one becomes many.
    @_disfavoredOverload
    public func associate(
        sourceInstance: ManagedObject, withDestinationInstance destinationInstance: ManagedObject,
        for mapping: EntityMapping
    ) throws {
        let resolved = try resolved(mapping.name)
        guard sourceInstance.entity.name == resolved.source?.name,
            destinationInstance.entity.name == resolved.destination?.name
        else {
            throw MigrationError(
                .stageFailed,
                "The mapping \(mapping.name) was asked to associate a \(sourceInstance.entity.name) with a \(destinationInstance.entity.name).",
                entity: sourceInstance.entity.name, object: sourceInstance.objectID.number)
        }
        try stage.associate(sourceInstance, with: destinationInstance, resolved, isNew: false)
    }

    /// The new objects of old ones, by a mapping.
    ///
    /// - Parameters:
    ///   - mappingName: The mapping that made them.
    ///   - sourceInstances: The old objects; nil for all, which are then held at once.
    /// - Returns: The new objects, in the order of the old ones; none for an object of another entity than the mapping's.
    /// - Throws: `MigrationError.stageFailed` if there is no such mapping.
    /// - Complexity: A look-up for each old object; for all of them, O(n) time and memory for n new objects of the
    ///   mapping.
    @_disfavoredOverload
    public func destinationInstances(
        forEntityMappingName mappingName: String, sourceInstances: [ManagedObject]?
    ) throws -> [ManagedObject] {
        let resolved = try resolved(mappingName)
        if let sourceInstances {
            return try sourceInstances.flatMap { source in
                guard source.entity.name == resolved.source?.name else { return [ManagedObject]() }
                return try stage.destinations(of: source.objectID.number, by: resolved.place)
            }
        }
        var all: [ManagedObject] = []
        try stage.flushAmidCall()
        try stage.forEachDestination(of: resolved) { all.append($0) }
        return all
    }

    /// The old objects of new ones, by a mapping.
    ///
    /// - Parameters:
    ///   - mappingName: The mapping that made the new objects.
    ///   - destinationInstances: The new objects; nil for all, whose old objects are then held at once.
    /// - Returns: The old objects, in the order of the new ones, none for an object of another entity than the mapping's;
    ///   for nil each once.
    /// - Throws: `MigrationError.stageFailed` if there is no such mapping.
    /// - Complexity: A look-up for each new object, and O(m) time and memory for its m old objects; for all of them,
    ///   O(n) time and memory for n pairs of the mapping.
    @_disfavoredOverload
    public func sourceInstances(
        forEntityMappingName mappingName: String, destinationInstances: [ManagedObject]?
    ) throws -> [ManagedObject] {
        let resolved = try resolved(mappingName)
        if let destinationInstances {
            return try destinationInstances.flatMap { destination in
                guard destination.entity.name == resolved.destination?.name else { return [ManagedObject]() }
                return try stage.sources(of: destination, by: resolved.place)
            }
        }
        var all: [ManagedObject] = []
        var seen: Set<ObjectIdentifier> = []
        try stage.flushAmidCall()
        try stage.forEachDestination(of: resolved, after: 0, through: Limits.recordIDMax) { _, old, _ in
            if seen.insert(ObjectIdentifier(old)).inserted { all.append(old) }
        }
        return all
    }

    /// Stored pairs of old and new objects that look-ups and walks have visited so far: the cost of finding them.
    package var visitedPairCount: Int { stage.visitedPairCount }

    // MARK: Values

    /// Sets an attribute of a new object to a large value of an old one without reading it.
    ///
    /// The value is moved; it is copied if a new object has taken it already, or the old object is carried over.
    ///
    /// - Complexity: O(1), or O(n) for the n bytes of a value that is copied.
    public func moveBlob(
        from source: ManagedObject, _ sourceKey: String, to destination: ManagedObject, _ destinationKey: String
    ) {
        if let blob = source.blobIdentifier(forKey: sourceKey) { stage.move(blob, of: source.entity.name) }
        destination.setBlob(source.blob(forKey: sourceKey), forKey: destinationKey)
    }

    func resolved(_ mappingName: String) throws -> ResolvedMapping {
        if let found = stage.mappings.first(where: { $0.mapping.name == mappingName }) { return found }
        let names = stage.mappings.map(\.mapping.name)
        let hint = NearestName.nearest(to: mappingName, among: names).map { " Did you mean \"\($0)\"?" } ?? ""
        throw MigrationError(.stageFailed, "There is no mapping \"\(mappingName)\" in this stage.\(hint)")
    }

    /// Evaluates the expression of a property, and notes the name if it throws.
    func evaluating(_ property: String, _ body: () throws -> Any?) throws -> Any? {
        do { return try body() } catch {
            failedProperty = property
            throw error
        }
    }

    /// Returns and clears the property whose expression has thrown.
    func takeFailedProperty() -> String? {
        defer { failedProperty = nil }
        return failedProperty
    }
}
