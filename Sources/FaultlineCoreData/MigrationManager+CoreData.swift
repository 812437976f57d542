public import FaultlineMigration
public import FaultlineModel
public import FaultlineObjects

// The calls do not throw, as in Core Data: an error of one stops the migration when the policy's own call returns.

extension MigrationManager {
    /// The schema of the objects that are read: `sourceSchema`.
    public var sourceModel: Schema { sourceSchema }
    /// The schema of the objects that are written: `destinationSchema`.
    public var destinationModel: Schema { destinationSchema }

    /// Values that policies share; empty after a restart, and never nil.
    public var userInfo: [AnyHashable: Any]? {
        get { self.FaultlineMigration::userInfo }
        set { self.FaultlineMigration::userInfo = newValue ?? [:] }
    }

    /// Records that an old object became a new one, so that it is found in the second pass.
    ///
    /// The first new object of the same entity that an old one becomes keeps its identity. Objects that are not of the
    /// mapping's entities stop the migration when the policy's call returns (`MigrationError.stageFailed`).
    ///
    /// - Complexity: As the form that throws.
    public func associate(
        sourceInstance: ManagedObject, withDestinationInstance destinationInstance: ManagedObject,
        for entityMapping: EntityMapping
    ) {
        do {
            try self.FaultlineMigration::associate(
                sourceInstance: sourceInstance, withDestinationInstance: destinationInstance, for: entityMapping)
        } catch { destinationContext.refuse(error) }
    }

    /// The new objects of old ones, by a mapping.
    ///
    ///     let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
    ///
    /// - Parameters:
    ///   - mappingName: The mapping that made them. An unknown name gives no objects, and stops the migration when the
    ///     policy's call returns (`MigrationError.stageFailed`, with the nearest name).
    ///   - sourceInstances: The old objects; nil for all, which are then held at once.
    /// - Returns: The new objects, in the order of the old ones; none for an object of another entity than the mapping's.
    /// - Complexity: A look-up for each old object; for all of them, O(n) time and memory for n new objects of the
    ///   mapping.
    public func destinationInstances(
        forEntityMappingName mappingName: String, sourceInstances: [ManagedObject]?
    ) -> [ManagedObject] {
        do {
            return try self.FaultlineMigration::destinationInstances(
                forEntityMappingName: mappingName, sourceInstances: sourceInstances)
        } catch {
            destinationContext.refuse(error)
            return []
        }
    }

    /// The old objects of new ones, by a mapping.
    ///
    /// - Parameters:
    ///   - mappingName: The mapping that made the new objects; an unknown name as in
    ///     `destinationInstances(forEntityMappingName:sourceInstances:)`.
    ///   - destinationInstances: The new objects; nil for all, whose old objects are then held at once.
    /// - Returns: The old objects, in the order of the new ones, none for an object of another entity than the mapping's;
    ///   for nil each once.
    /// - Complexity: A look-up for each new object, and O(m) time and memory for its m old objects; for all of them,
    ///   O(n) time and memory for n pairs of the mapping.
    public func sourceInstances(
        forEntityMappingName mappingName: String, destinationInstances: [ManagedObject]?
    ) -> [ManagedObject] {
        do {
            return try self.FaultlineMigration::sourceInstances(
                forEntityMappingName: mappingName, destinationInstances: destinationInstances)
        } catch {
            destinationContext.refuse(error)
            return []
        }
    }
}
