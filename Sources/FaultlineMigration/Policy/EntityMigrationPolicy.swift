public import FaultlineObjects

/// Code that makes the objects of one entity mapping, in the calls that users of Core Data know.
///
/// Each mapping is visited three times, once in each pass, in the order of its model:
///
/// | pass | calls |
/// |---|---|
/// | 1, make | `begin(_:with:)`; `createDestinationInstances(forSource:in:manager:)` for each old object; `endInstanceCreation(forMapping:manager:)` |
/// | 2, relate | `createRelationships(forDestination:in:manager:)` for each new object; `endRelationshipCreation(forMapping:manager:)` |
/// | 3, check | `performCustomValidation(forMapping:manager:)`; `end(_:manager:)` |
///
/// What a call throws stops the migration; the store is then in its old state. A migration that was killed begins the
/// stage again with a new instance, or, where it is a `ResumablePolicy`, goes on with one: policies should depend on
/// nothing but what they are given.
///
/// Objects that a call is given, and those that it gets from its manager, are good until it returns: they are written
/// and let go of in batches. Keep an `objectID` where one is needed later.
open class EntityMigrationPolicy {
    /// Makes the policy of one mapping of one migration.
    public required init() {}

    /// Called before anything else, once.
    open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

    /// Makes what one old object becomes: one object, none, or several.
    ///
    /// By itself makes one object, gives it its attributes by the mapping, and associates the two. What overrides it
    /// without calling `super` sets every attribute itself, and calls
    /// `manager.associate(sourceInstance:withDestinationInstance:for:)` for what it makes: what is not associated is
    /// not found in the second pass, and is counted in the report.
    open func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try manager.createDestinationInstance(forSource: sInstance, in: mapping)
    }

    /// Called when all old objects of the mapping were seen.
    open func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    /// Relates one new object to others; by itself does what the mapping says.
    open func createRelationships(
        forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try manager.createRelationships(forDestination: dInstance, in: mapping)
    }

    /// Called when all new objects of the mapping were related.
    open func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    /// Checks what was made, by fetching it in the manager's `destinationContext`.
    ///
    /// What the new schema asks for by itself is checked after this.
    open func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    /// Called last, once.
    open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}
}
