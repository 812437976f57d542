public import FaultlineObjects

/// The code of a streamed stage for the objects of one old entity.
public struct StreamedEntity: Sendable {
    package let type: any PersistentModel.Type
    package var entityName: String { type._$modelType.entityName }
    /// Whether the code runs for one object after the other, on the thread that migrates.
    package let isInOrder: Bool
    package let body: @Sendable (AnyObject, MigrationOutput) throws -> Void

    /// Names an entity of the old version, and the code that runs for each of its objects.
    ///
    /// If there are many objects, several threads run it, each for a share of consecutive objects. New objects are
    /// saved, and get their identifiers, in the order of the old objects, independent of the threads' speed. Code that
    /// finds or reads new objects (`upsert`, an attribute of the result of `object(migratedFrom:)`) waits until all old
    /// objects before its share are done; so does code that reads a large value whole, so that only one is in memory,
    /// not one for each thread. During such a wait it must not hold a lock that the code takes for other objects: that
    /// would be a deadlock. Task-local values are those of the thread that migrates.
    ///
    /// - Parameters:
    ///   - type: The model class of the old version.
    ///   - inOrder: Whether the code must run for one object after the other, in the order of creation, on the thread
    ///     that migrates: because it keeps state between objects, or belongs to an actor.
    ///   - body: Gets the old object, and the output for new ones. The first new object in the entity of the same name
    ///     keeps the old object's identity, so that relationships to it stay. An error of the code stops the migration.
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
