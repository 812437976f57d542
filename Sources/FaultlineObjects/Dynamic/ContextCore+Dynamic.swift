extension ContextCore {
    /// The type of an entity's dynamic objects.
    ///
    /// - Throws: `SwiftDataError.unknownSchema` if the container has none of that entity.
    func requireDynamic(_ name: String) throws -> ModelType {
        if let type = dynamicType(named: name) { return type }
        let isTyped = home(named: name) != nil
        let names = homes.all.map(\.entityName)
        let hint = NearestName.nearest(to: name, among: names).map { "Did you mean \"\($0)\"?" } ?? ""
        throw SwiftDataError.unknownSchema.explained(
            isTyped
                ? "The objects of \(name) have a class in this container. Fetch them by the class, or make the container from a schema without classes."
                : "The container has no entity \"\(name)\". \(hint)")
    }

    /// The home and the type of the objects of an entity without a class.
    ///
    /// - Throws: `SwiftDataError.unknownSchema` as `requireDynamic`, and if the store has no table for them.
    func requireDynamicHome(_ name: String) throws -> (EntityHome, ModelType) {
        let type = try requireDynamic(name)
        guard let home = home(of: type) else {
            throw SwiftDataError.unknownSchema.explained("\(name) has no table in this store.")
        }
        return (home, type)
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
