internal import FaultlineDisk
internal import FaultlineModel
internal import Synchronization

// The descriptions of model classes, read from their declarations.

extension ModelType {
    /// Reads the description of a class.
    ///
    /// - Parameters:
    ///   - type: The class.
    ///   - superclass: The model class that it inherits from; nil for a root class.
    ///   - originalName: The name under which an older schema knew its entity; nil for the same.
    public convenience init<Model: PersistentModel>(
        _ type: Model.Type, superclass: (any PersistentModel.Type)? = nil, originalName: String? = nil
    ) {
        ModelClasses.note(type)
        let name = unqualifiedName(of: type)
        var entity = Schema.Entity(name)
        var defect: SchemaError?
        do throws(SchemaError) {
            entity = try Schema.Entity(name, metadata: type.schemaMetadata, role: ModelType.role)
        } catch { defect = error }
        if let originalName { entity.originalName = originalName }
        let names = entity.properties.map(\.name)
        self.init(
            type, entity, defect, described: type == ManagedObject.self ? entity : nil,
            maker: { _ in type.init(_$fault: FaultToken()) },
            defaults: { slot in
                guard slot < names.count else { return nil }
                return type.schemaMetadata.first { $0.name == names[slot] }?.defaultValue
            }, ancestry: superclass.map { .heir(of: $0._$modelType) } ?? .root)
    }

    /// The inverse of a relationship between objects in no context; nil for none.
    ///
    /// Resolved in the schema of the classes that the class's relationships lead to, which contains every inverse.
    func inverse(of slot: Int) -> Inverse? {
        inverses.withLock { known in
            let all = known ?? resolveInverses()
            known = all
            return slot < all.count ? all[slot] : nil
        }
    }

    private func resolveInverses() -> [Inverse?] {
        guard let schema = try? Schema.checked([type], version: Schema.Version(1, 0, 0)),
            let resolved = schema.entitiesByName[entityName]
        else { return [] }
        return resolved.properties.map { property in
            guard let relationship = property.asRelationship, let name = relationship.inverseName,
                let destination = schema.entitiesByName[relationship.destination],
                let slot = destination.properties.firstIndex(where: { $0.name == name }),
                let inverse = destination.properties[slot].asRelationship
            else { return nil }
            return Inverse(slot: slot, isToOne: inverse.isToOneRelationship)
        }
    }

    /// Distinguishes relationships from attributes by the type of the property.
    static func role(of valueType: any Any.Type) -> PropertyRole {
        guard let (model, isToOne) = destination(of: valueType) else { return .attribute }
        let name = unqualifiedName(of: model)
        return isToOne ? .toOne(destination: name) : .toMany(destination: name)
    }

    /// The model class that properties of a type lead to; nil for values.
    static func destination(
        of valueType: any Any.Type
    ) -> (model: any PersistentModel.Type, isToOne: Bool)? {
        if isScalar(valueType) { return nil }
        switch TypeShape(of: valueType) {
        case .optional(let wrapped):
            if let model = ModelClasses.find(wrapped) { return (model, true) }
            // An optional array, not an optional optional.
            guard case .array(let element) = TypeShape(of: wrapped) else { return nil }
            return ModelClasses.find(element).map { ($0, false) }
        case .array(let element): return ModelClasses.find(element).map { ($0, false) }
        case .other: return ModelClasses.find(valueType).map { ($0, true) }
        }
    }

    /// The model classes that this one's relationships lead to.
    package var destinations: [any PersistentModel.Type] {
        entity.properties.compactMap { property in
            property.isRelationship ? Self.destination(of: property.valueType)?.model : nil
        }
    }
}
