public import FaultlineObjects

/// What a streamed stage does with each object of one old entity.
public struct StreamedEntity: Sendable {
    package let type: any PersistentModel.Type
    package var entityName: String { type._$modelType.entityName }
    package let body: @Sendable (AnyObject, MigrationOutput) throws -> Void

    /// Names an entity of the old version, and the code that is run for each of its objects in the order of creation.
    ///
    /// - Parameters:
    ///   - type: The model class of the old version.
    ///   - body: Gets the old object, and the output that takes new ones. The first new object of the entity of the
    ///     same name that it inserts keeps the old object's identity, so that relationships to it stay. What it throws
    ///     stops the migration.
    public init<Old: PersistentModel>(
        _ type: Old.Type, _ body: @escaping @Sendable (_ old: Old, _ output: MigrationOutput) throws -> Void
    ) {
        self.type = type
        self.body = { object, output in
            guard let old = object as? Old else { return }
            try body(old, output)
        }
    }
}
