public import FaultlineModel

extension Schema.Entity {
    /// The class that the entity was made of.
    fileprivate var modelClass: (any PersistentModel.Type)? { modelType.flatMap(ModelClasses.find) }
}

extension Schema {
    /// Makes a schema of model classes and of every class that their relationships lead to.
    ///
    /// - Throws: `SchemaError` naming entity and property, if a class breaks a rule.
    package static func checked(_ types: [any PersistentModel.Type], version: Version) throws -> Schema {
        var entities: [Schema.Entity] = []
        var heirs: [(entity: Schema.Entity, parentName: String)] = []
        for type in reachable(from: types) {
            let model = type._$modelType
            if let defect = model.defect { throw defect }
            // A new entity: inverses are resolved within this schema.
            let entity = try Schema.Entity(model.entityName, metadata: type.schemaMetadata, role: ModelType.role)
            if model.entity.isRenamed { entity.originalName = model.entity.originalName }
            entity.modelType = type
            if let parent = model.parent {
                entity.storedProperties = Array(entity.storedProperties.dropFirst(parent.properties.count))
                heirs.append((entity, parent.entityName))
            }
            entities.append(entity)
        }
        for (entity, parentName) in heirs { entities.first { $0.name == parentName }?.subentities.insert(entity) }
        let schema = Schema(entities: entities, version: version)
        schema.resolveInverses()
        try schema.validate()
        schema.encodeDefaults()
        return schema
    }

    /// The given model classes, and then every class that they inherit from or that their relationships lead to.
    package static func reachable(from types: [any PersistentModel.Type]) -> [any PersistentModel.Type] {
        var seen: Set<ObjectIdentifier> = []
        var all: [any PersistentModel.Type] = []
        var queue = types
        while !queue.isEmpty {
            let next = queue.removeFirst()
            guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
            ModelClasses.note(next)
            all.append(next)
            let model = next._$modelType
            if let parent = model.parent { queue.append(parent.type) }
            queue.append(contentsOf: model.destinations)
        }
        return all
    }

    /// The model classes that a schema was made of; nil if it was made otherwise.
    package static func modelTypes(of schema: Schema) -> [any PersistentModel.Type]? {
        let types = schema.entities.compactMap(\.modelClass)
        return types.count == schema.entities.count ? types : nil
    }

    /// Makes a schema of model classes.
    ///
    /// A class that breaks a rule is reported when a container is made with the schema.
    ///
    /// - Complexity: O(n) for n properties of the classes and of those that they lead to.
    public convenience init(_ types: [any PersistentModel.Type], version: Version = Version(1, 0, 0)) {
        do {
            self.init(entities: try Schema.checked(types, version: version).entities, version: version)
        } catch {
            self.init(entities: [], version: version, defect: error as? SchemaError)
        }
    }

    /// Makes a schema of model classes.
    ///
    /// - Complexity: O(n) for n properties of the classes and of those that they lead to.
    public convenience init(_ types: any PersistentModel.Type..., version: Version = Version(1, 0, 0)) {
        self.init(types, version: version)
    }

    /// The name of a model class's entity.
    public static func entityName<T: PersistentModel>(for type: T.Type) -> String { type._$modelType.entityName }

    /// The entity of a model class.
    public func entity<T: PersistentModel>(for type: T.Type) -> Entity? {
        entitiesByName[type._$modelType.entityName]
    }
}
