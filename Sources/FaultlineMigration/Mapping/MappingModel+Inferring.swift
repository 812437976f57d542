public import FaultlineModel
internal import FaultlineObjects

extension MappingModel {
    /// Makes the mappings that need no code: an entity, and each attribute, becomes the one that has its name, or that
    /// gives it as the original name.
    ///
    /// Then give the one mapping that needs it a policy, or other properties:
    ///
    ///     var model = try MappingModel.inferred(from: old, to: new)
    ///     for place in model.entityMappings.indices where model.entityMappings[place].name == "Book->Book" {
    ///         model.entityMappings[place].entityMigrationPolicy = BookPolicy.self
    ///     }
    ///
    /// The model has a mapping for each entity: of the new version in its order (`copy` if nothing changed, `transform`,
    /// or `add`), then `remove` for those of the old version that have no successor. Attributes are listed;
    /// relationships follow the default of `EntityMapping.relationshipMappings`. Leave out the mappings of entities that
    /// need no code, and their objects are carried over instead of rewritten.
    ///
    /// They drop no data in your name: values that the new version lacks count as unhandled (`unhandledData`), until a
    /// mapping has a policy or reads them. An `EntityMapping(from: "Badge", to: nil)` of your own removes objects.
    ///
    /// - Throws: `MigrationError` of the code `notLightweight` for a change that needs a default or code, with entity,
    ///   property and the remedy.
    /// - Complexity: As `SchemaDifference.init(from:to:)`.
    public static func inferred(from old: Schema, to new: Schema) throws(MigrationError) -> MappingModel {
        let difference = new.difference(from: old)
        let blocking = difference.changes.filter { $0.demand != .lightweight }
        if let first = blocking.first {
            throw MigrationError(
                .notLightweight,
                "No mappings can be inferred: \(blocking.map(\.description).joined(separator: "; "))",
                stage: "\(old.version) → \(new.version)", entity: first.entityName, property: first.propertyName
            ).comparing(SchemaMismatch(stored: old, requested: new))
        }
        let changed = Set(difference.changes.map(\.entityName))
        var mappings: [EntityMapping] = []
        for entity in new.entities {
            guard let oldName = difference.oldEntityNames[entity.name], let forerunner = old.entitiesByName[oldName]
            else {
                mappings.append(EntityMapping(from: nil, to: entity.name))
                continue
            }
            let names = difference.oldPropertyNames[entity.name] ?? [:]
            var mapping = EntityMapping(
                from: oldName, to: entity.name, attributes: attributes(of: entity, from: forerunner, names))
            mapping.mappingType = changed.contains(entity.name) ? .transform : .copy
            mappings.append(mapping)
        }
        let kept = Set(difference.oldEntityNames.values)
        for entity in old.entities where !kept.contains(entity.name) {
            mappings.append(EntityMapping(from: entity.name, to: nil))
        }
        for place in mappings.indices { mappings[place].isInferred = true }
        return MappingModel(entityMappings: mappings)
    }

    /// The mappings of the stored attributes of an entity.
    ///
    /// - Parameters:
    ///   - entity: The new entity.
    ///   - forerunner: The old one.
    ///   - names: The old names of its properties, by the new ones.
    /// - Returns: One for each, without an expression for those that get their default.
    private static func attributes(
        of entity: Schema.Entity, from forerunner: Schema.Entity, _ names: [String: String]
    ) -> [PropertyMapping] {
        entity.properties.compactMap { property in
            guard let attribute = property.asAttribute, !attribute.isTransient else { return nil }
            let old = forerunner.properties.first { $0.name == names[attribute.name] }?.asAttribute
            return PropertyMapping(attribute.name, old.flatMap { $0.isTransient ? nil : .source($0.name) })
        }
    }
}
