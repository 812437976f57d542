extension ContextCore {
    /// The entity of a table whose objects have no class: those of a migration stage.
    ///
    /// - Throws: As `entity(named:)`, and for an entity of a class, or of one of several in a table.
    func dynamicEntity(named name: String) throws -> NamedEntity {
        let entity = try entity(named: name)
        guard entity.type.isDynamic, entity.type.entityName == name else {
            throw SwiftDataError.unknownSchema.explained(
                "\(name) is no table of its own whose objects have no class. Ask for \(entity.type.entityName).")
        }
        return entity
    }

    /// The home of a class's objects.
    ///
    /// - Throws: `SwiftDataError.unknownSchema` if the container's schema lacks its entity.
    func require<T: PersistentModel>(_ type: T.Type) throws -> EntityHome {
        if let home = home(of: type._$modelType) { return home }
        if type == ManagedObject.self {
            throw SwiftDataError.unknownSchema.explained(
                "The class ManagedObject does not say which entity is wanted. Use a FetchRequest, or another call that takes the name of an entity."
            )
        }
        throw SwiftDataError.unknownSchema.explained(
            "\(String(reflecting: type)) is not among the models of this container. Add it to the container's schema.")
    }
}
