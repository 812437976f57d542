internal import FaultlineModel
internal import FaultlineObjects

/// The entities of a container's schema, divided over the configurations of its stores.
///
/// A configuration has the entities of its own schema; the one without a schema has the rest. Relationships and
/// inheritance stay within a store: a row names its partners by numbers of its own store.
struct StoreDivision {
    /// One store: its configuration, and its part of the schema.
    struct Part {
        let configuration: any DataStoreConfiguration
        let schema: Schema
    }

    let parts: [Part]

    /// - Throws: `SwiftDataError.duplicateConfiguration` for two configurations of one name or place;
    ///   `SwiftDataError.configurationSchemaNotFoundInContainerSchema` for entities that the schema lacks;
    ///   `SeveralStoresError` for a division that no stores can have.
    init(_ schema: Schema, _ configurations: [any DataStoreConfiguration]) throws {
        try Self.checkAreDifferent(configurations)
        for configuration in configurations { try ContainerRequest.check(configuration.schema, isIn: schema) }
        let named = configurations.map { $0.schema.map { Set($0.entities.map(\.name)) } }
        try Self.checkAreApart(named, configurations, schema)
        let rest = Set(schema.entities.map(\.name)).subtracting(named.reduce(into: []) { $0.formUnion($1 ?? []) })
        if let lost = schema.entities.first(where: { rest.contains($0.name) }), !named.contains(nil) {
            throw SeveralStoresError(
                .entityInNoStore,
                "No configuration has \(lost.name) in its schema. Add it to one of them, or give one configuration no schema: it has all entities that no other has."
            )
        }
        let names = named.map { $0 ?? rest }
        for (configuration, names) in zip(configurations, names) where names.isEmpty {
            throw Self.withoutEntities(configuration.name)
        }
        try Self.checkPartners(of: schema, names, configurations)
        parts = zip(configurations, names).map { configuration, names in
            let entities = schema.entities.filter { names.contains($0.name) }
            return Part(configuration: configuration, schema: Schema(entities: entities, version: schema.version))
        }
    }

    private static func checkAreDifferent(_ configurations: [any DataStoreConfiguration]) throws {
        for (place, configuration) in configurations.enumerated() {
            for earlier in configurations[..<place] { try checkAreDifferent(earlier, configuration) }
        }
        let open = configurations.filter { $0.schema == nil }
        guard open.count <= 1 else {
            throw SwiftDataError.duplicateConfiguration.explained(
                "The configurations \(open.map(\.name).joined(separator: " and ")) have no schema: only one can have the entities that no other has. Give the others a schema with their entities."
            )
        }
    }

    private static func checkAreDifferent(
        _ one: any DataStoreConfiguration, _ other: any DataStoreConfiguration
    ) throws {
        if one.name == other.name {
            throw SwiftDataError.duplicateConfiguration.explained(
                "Two configurations have the name \(one.name). Give each store its own.")
        }
        guard let path = path(of: one), path == self.path(of: other) else { return }
        throw SwiftDataError.duplicateConfiguration.explained(
            "The configurations \(one.name) and \(other.name) have one place, \(path). Give each store its own.")
    }

    /// The place of a store in files.
    private static func path(of configuration: any DataStoreConfiguration) -> String? {
        guard let own = configuration as? ModelConfiguration, !own.isStoredInMemoryOnly else { return nil }
        return own.url.standardizedFileURL.resolvingSymlinksInPath().path
    }

    private static func withoutEntities(_ name: String) -> SeveralStoresError {
        SeveralStoresError(
            .storeWithoutEntities,
            "The configuration \(name) has no entity: the others have them all. Leave it out, or name its entities in its schema."
        )
    }

    /// Refuses an entity that two configurations name; a class comes with all that its relationships lead to.
    private static func checkAreApart(
        _ named: [Set<String>?], _ configurations: [any DataStoreConfiguration], _ schema: Schema
    ) throws {
        for entity in schema.entities {
            let places = named.indices.filter { named[$0]?.contains(entity.name) == true }
            guard places.count > 1 else { continue }
            let names = places.map { configurations[$0].name }.joined(separator: " and ")
            let link = schema.entities.lazy.flatMap { owner in Self.relationships(of: owner).map { (owner, $0) } }.first
            {
                owner, relationship in
                relationship.destination == entity.name && places.contains { named[$0]?.contains(owner.name) == false }
            }
            let lead =
                link.map { " \($0.0.name).\($0.1.name) leads to it: objects are related within one store." } ?? ""
            throw SeveralStoresError(
                .entityInTwoStores,
                "\(entity.name) is in the schemas of the configurations \(names).\(lead) Leave it in one of them.")
        }
    }

    /// The relationships that an entity declares, in a fixed order.
    private static func relationships(of entity: Schema.Entity) -> [Schema.Relationship] {
        entity.relationships.sorted { $0.name < $1.name }
    }

    /// Checks a store that is to be added to others.
    ///
    /// - Parameters:
    ///   - names: The names of its entities.
    ///   - configuration: Its configuration.
    ///   - schema: The entities of all stores.
    ///   - others: The containers of the others.
    /// - Throws: As the initializer.
    static func check(
        _ names: Set<String>, _ configuration: ModelConfiguration, of schema: Schema, besides others: [ModelContainer]
    ) throws {
        let configurations = others.map(\.configuration) + [configuration]
        let held = others.map { Set($0.schema.entities.map(\.name)) } + [names]
        for place in configurations.indices.dropLast() {
            try checkAreDifferent(configurations[place], configuration)
        }
        try checkAreApart(held, configurations, schema)
        if names.isEmpty { throw withoutEntities(configuration.name) }
        try checkPartners(of: schema, held, configurations)
    }

    /// Refuses relationships and inheritance across stores.
    private static func checkPartners(
        of schema: Schema, _ names: [Set<String>], _ configurations: [any DataStoreConfiguration]
    ) throws {
        func place(_ name: String) -> Int? { names.firstIndex { $0.contains(name) } }
        func text(_ name: String) -> String { "\(name) (\(place(name).map { configurations[$0].name } ?? "no store"))" }
        for entity in schema.entities {
            if let parent = entity.superentityName, place(parent) != place(entity.name) {
                throw SeveralStoresError(
                    .inheritanceAcrossStores,
                    "\(text(entity.name)) inherits from \(text(parent)): the objects of a hierarchy are in one store. Name both in the schema of one configuration."
                )
            }
            for relationship in relationships(of: entity) where place(relationship.destination) != place(entity.name) {
                throw SeveralStoresError(
                    .relationshipAcrossStores,
                    "\(entity.name).\(relationship.name) leads from \(text(entity.name)) to \(text(relationship.destination)): objects are related within one store. Name both in the schema of one configuration, or keep the other object's persistentModelID as a value."
                )
            }
        }
    }
}
