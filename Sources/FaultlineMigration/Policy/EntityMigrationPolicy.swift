public import FaultlineObjects

/// Code that makes the objects of one entity mapping, with the calls of Core Data's class of this name.
///
/// Each mapping is visited three times, once in each pass, in the order of its model:
///
/// | pass | calls |
/// |---|---|
/// | 1, make | `begin(_:with:)`; `createDestinationInstances(forSource:in:manager:)` for each old object; `endInstanceCreation(forMapping:manager:)` |
/// | 2, relate | `createRelationships(forDestination:in:manager:)` for each new object; `endRelationshipCreation(forMapping:manager:)` |
/// | 3, check | `performCustomValidation(forMapping:manager:)`; `end(_:manager:)` |
///
/// An error of a call stops the migration; the store is then in its old state. A migration that was killed restarts the
/// stage with a new instance, or, if it is a `ResumablePolicy`, resumes it with one: policies should depend only on
/// their arguments.
///
/// Objects that a call gets as arguments, and from its manager, are valid until it returns: they are written and
/// released in batches. Keep an `objectID` if one is needed later.
open class EntityMigrationPolicy {
    /// Makes the policy of one mapping of one migration.
    public required init() {}

    /// Called once, before all other calls.
    ///
    /// - Throws: An error stops the migration.
    open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

    /// Makes the new objects of one old object: one, none, or several.
    ///
    /// The default makes one object, sets its attributes by the mapping, and associates the two. An override that does
    /// not call `super` sets every attribute itself, and calls
    /// `manager.associate(sourceInstance:withDestinationInstance:for:)` for its objects: objects without an association
    /// are not found in the second pass, and are counted in the report.
    ///
    /// - Throws: The errors of values and expressions. An error stops the migration, or moves the object to the
    ///   quarantine.
    /// - Complexity: Of the default: O(p) for p mapped properties. Called once for each old object of the mapping.
    open func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try manager.createDestinationInstance(forSource: sInstance, in: mapping)
    }

    /// Called after all old objects of the mapping were visited.
    ///
    /// - Throws: An error stops the migration.
    open func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    /// Relates one new object to others; the default follows the mapping.
    ///
    /// - Throws: An error stops the migration, or moves the object to the quarantine.
    /// - Complexity: Of the default: O(m) for m related objects. Called once for each new object of the mapping.
    open func createRelationships(
        forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try manager.createRelationships(forDestination: dInstance, in: mapping)
    }

    /// Called after all new objects of the mapping were related.
    ///
    /// - Throws: An error stops the migration.
    open func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    /// Checks the new objects, by fetching them in the manager's `destinationContext`.
    ///
    /// The rules of the new schema are checked after this.
    ///
    /// - Throws: An error stops the migration.
    open func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    /// Called once, last.
    ///
    /// - Throws: An error stops the migration.
    open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}
}
