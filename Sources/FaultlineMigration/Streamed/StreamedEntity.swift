public import FaultlineObjects

/// What a streamed stage does with each object of one old entity.
public struct StreamedEntity: Sendable {
    package let type: any PersistentModel.Type
    package var entityName: String { type._$modelType.entityName }
    /// Whether the code is run for one object after the other, on the thread that migrates.
    package let isInOrder: Bool
    package let body: @Sendable (AnyObject, MigrationOutput) throws -> Void

    /// Names an entity of the old version, and the code that is run for each of its objects.
    ///
    /// Where there are many objects, several threads run it, each for a share of neighbours; what it inserts is saved,
    /// and gets its identifiers, in the order in which the old objects were made, whoever is first. Code that finds or
    /// reads new objects (`upsert`, an attribute of what `object(migratedFrom:)` returns) waits until all old objects
    /// before its share are done; so does code that reads a large value whole, so that one is in memory and not one for
    /// each thread. It must not hold a lock meanwhile that the code takes for other objects: those it waits for would
    /// wait for it. Task-local values are those of the thread that migrates.
    ///
    /// - Parameters:
    ///   - type: The model class of the old version.
    ///   - inOrder: Whether the code has to be run for one object after the other, in the order of creation, on the
    ///     thread that migrates: because it keeps something from one object to the next, or belongs to an actor.
    ///   - body: Gets the old object, and the output that takes new ones. The first new object of the entity of the
    ///     same name that it inserts keeps the old object's identity, so that relationships to it stay. What it throws
    ///     stops the migration.
    public init<Old: PersistentModel>(
        _ type: Old.Type, inOrder: Bool = false,
        _ body: @escaping @Sendable (_ old: Old, _ output: MigrationOutput) throws -> Void
    ) {
        self.type = type
        isInOrder = inOrder
        self.body = { object, output in
            guard let old = object as? Old else { return }
            try body(old, output)
        }
    }
}
