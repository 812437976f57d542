extension Schema {
    /// The schema of the tables that hold the objects of model classes: one entity for each class that inherits from
    /// none, with the properties of its subclasses.
    ///
    /// The same schema if no class inherits from another one.
    ///
    /// - Throws: `SchemaError` for a declaration that a table of several classes cannot hold.
    /// - Complexity: O(n log n) for n properties of all classes.
    package func tables() throws(SchemaError) -> Schema {
        guard entities.contains(where: \.isHeir) else { return self }
        return try TableBuilding(self, isHeir: \.isHeir).schema()
    }

    /// The same of entities without classes that name superentities: the tables of the model classes that are written
    /// for them.
    ///
    /// A subclass cannot declare a text index, so that the options `.spotlight` of subentities are left out. So are the
    /// original names of properties that entities below the root declare: two columns may have had one name.
    ///
    /// - Throws: As `tables()`.
    /// - Complexity: As `tables()`.
    package func tablesWithoutClasses() throws(SchemaError) -> Schema {
        guard entities.contains(where: { $0.superentityName != nil }) else { return self }
        let plain = Schema(written: version, encodingVersion: encodingVersion, entities: entities.map(\.alone))
        for entity in plain.entities where entity.superentityName != nil {
            entity.indexedTexts = []
            for property in entity.storedProperties { property.asAttribute?.options.removeAll { $0 == .spotlight } }
        }
        let tables = try TableBuilding(plain) { $0.superentityName != nil }.schema()
        for table in tables.entities {
            let own = Set(table.rootPropertyNames)
            for var property in table.properties where !own.contains(property.name) { property.originalName = "" }
        }
        return tables
    }
}

extension Schema.Entity {
    /// Whether the entity is that of a model class that inherits from another one, whose table it shares.
    ///
    /// An entity without a class that names a superentity has a table of its own.
    package var isHeir: Bool { modelType != nil && superentityName != nil }

    /// A copy with the entity's own properties, which a schema connects with its superentity.
    fileprivate var alone: Schema.Entity {
        let copy = copied()
        copy.inheritedProperties = []
        return copy
    }
}

/// Makes the entities of tables of those of model classes.
private struct TableBuilding {
    private let classes: Schema
    private let isHeir: (Schema.Entity) -> Bool
    /// The subclasses of each class, directly below it.
    private let children: [String: [Schema.Entity]]
    /// The root class of each class.
    private var roots: [String: String] = [:]
    /// The columns of a class's own properties.
    private var columns: [String: [String: String]] = [:]

    init(_ classes: Schema, isHeir: @escaping (Schema.Entity) -> Bool) {
        self.classes = classes
        self.isHeir = isHeir
        children = Dictionary(grouping: classes.entities.filter(isHeir)) { $0.superentityName ?? "" }
        for root in classes.entities where !isHeir(root) {
            roots[root.name] = root.name
            let heirs = heirs(below: root)
            for heir in heirs { roots[heir.name] = root.name }
            nameColumns(of: heirs)
        }
    }

    /// All subclasses of a class: each before its own, by name, so that the order in which they are listed does not
    /// matter.
    private func heirs(below entity: Schema.Entity) -> [Schema.Entity] {
        (children[entity.name] ?? []).sorted { precedes($0.name, $1.name) }.flatMap { [$0] + heirs(below: $0) }
    }

    /// Properties of several classes that have one name and are declared alike share a column; those that differ have
    /// the name of their class in front.
    private mutating func nameColumns(of heirs: [Schema.Entity]) {
        var declared: [String: [any SchemaProperty]] = [:]
        for heir in heirs {
            for property in heir.storedProperties { declared[property.name, default: []].append(property) }
        }
        for heir in heirs {
            var names: [String: String] = [:]
            for property in heir.storedProperties {
                let same = declared[property.name] ?? []
                let isShared = same.allSatisfy { Self.areAlike($0, property) }
                names[property.name] = isShared ? property.name : "\(heir.name).\(property.name)"
            }
            columns[heir.name] = names
        }
    }

    /// Whether two properties can be one column.
    private static func areAlike(_ left: any SchemaProperty, _ right: any SchemaProperty) -> Bool {
        if let left = left.asAttribute, let right = right.asAttribute {
            let (one, other) = (left.copied(), right.copied())
            one.options.removeAll { $0 == .unique }
            other.options.removeAll { $0 == .unique }
            return one == other
        }
        if let left = left.asRelationship, let right = right.asRelationship {
            // An inverse leads to one of both classes.
            return left == right && (left === right || left.inverseName == nil)
        }
        return false
    }

    func schema() throws(SchemaError) -> Schema {
        var entities: [Schema.Entity] = []
        for root in classes.entities where !isHeir(root) { entities.append(try table(of: root)) }
        return Schema(entities: entities, version: classes.version)
    }

    private func table(of root: Schema.Entity) throws(SchemaError) -> Schema.Entity {
        var properties = root.storedProperties.map { placed($0, as: $0.name) }
        var constraints = root.uniquenessConstraints
        var indices = root.indices
        var heirs: [Schema.Heir] = []
        var taken = Set(properties.map(\.name))
        var keyPaths = root.namesByKeyPath
        for heir in self.heirs(below: root) {
            try refuseTexts(of: heir, root)
            let own = columns[heir.name] ?? [:]
            let all = allColumns(of: heir)
            let described = Schema.Heir(
                name: heir.name, originalName: heir.isRenamed ? heir.originalName : nil,
                superName: heir.superentityName ?? root.name,
                columns: heir.storedProperties.map {
                    .init(property: $0.name, column: own[$0.name] ?? $0.name, isOptional: $0.isOptional)
                })
            properties.append(mark(of: heir))
            for property in heir.storedProperties {
                let column = own[property.name] ?? property.name
                if taken.insert(column).inserted { properties.append(heldByHeir(property, of: heir, as: column)) }
            }
            let single = heir.storedProperties.filter(\.isUnique).map { [$0.name] }
            for group in single + heir.uniquenessConstraints {
                constraints.append([described.markName] + group.map { all[$0] ?? $0 })
            }
            for group in heir.indices { indices.append(group.map { all[$0] ?? $0 }) }
            for (keyPath, name) in heir.namesByKeyPath { keyPaths[keyPath] = all[name] ?? name }
            heirs.append(described)
        }
        guard properties.count <= Schema.propertyCountMax else {
            throw SchemaError(
                .tooManyProperties, entity: root.name,
                """
                \(root.name) and its subclasses have \(properties.count) properties and marks; \
                \(Schema.propertyCountMax) is the most that one table has. Move some of them to another class.
                """)
        }
        let table = Schema.Entity(
            root.name, subentities: [], properties: properties, uniquenessConstraints: constraints, indices: indices,
            indexedTexts: root.indexedTexts)
        if root.isRenamed { table.originalName = root.originalName }
        table.modelType = root.modelType
        table.namesByKeyPath = keyPaths
        table.heirs = heirs
        return table
    }

    /// The columns of a class by property, inherited ones included.
    private func allColumns(of entity: Schema.Entity) -> [String: String] {
        var names: [String: String] = [:]
        for name in entity.properties.map(\.name) { names[name] = name }
        var next: Schema.Entity? = entity
        while let heir = next, isHeir(heir) {
            names.merge(columns[heir.name] ?? [:]) { _, own in own }
            next = heir.superentityName.flatMap { classes.entitiesByName[$0] }
        }
        return names
    }

    /// The attribute that tells which rows are objects of a class; its last value tells that of a deleted object.
    private func mark(of heir: Schema.Entity) -> Schema.Attribute {
        Schema.Attribute(
            name: Schema.Heir.markName(of: heir.name),
            originalName: heir.isRenamed ? Schema.Heir.markName(of: heir.originalName) : nil,
            options: [.preserveValueOnDeletion], valueType: Bool?.self)
    }

    /// A property under its column's name, with the entities and columns that a relationship leads to.
    private func placed(_ property: any SchemaProperty, as column: String) -> any SchemaProperty {
        if let attribute = property.asAttribute {
            let copy = attribute.copied()
            rename(copy, to: column)
            return copy
        }
        guard let relationship = property.asRelationship else { return property }
        let copy = relationship.copied()
        rename(copy, to: column)
        if let destination = classes.entitiesByName[relationship.destination] {
            copy.inverseName = relationship.inverseName.map { allColumns(of: destination)[$0] ?? $0 }
            copy.destination = roots[destination.name] ?? destination.name
        }
        return copy
    }

    private func rename(_ property: any SchemaProperty, to column: String) {
        var property = property
        let original = property.originalName
        let isRenamed = original != property.name
        guard property.name != column else { return }
        property.name = column
        if isRenamed { property.originalName = original }
    }

    /// A property of a subclass: rows of other classes have no value of it, and a constraint of it is the class's own.
    private func heldByHeir(
        _ property: any SchemaProperty, of heir: Schema.Entity, as column: String
    ) -> any SchemaProperty {
        let copy = placed(property, as: column)
        if let attribute = copy.asAttribute {
            attribute.options.removeAll { $0 == .unique }
            if !attribute.isOptional { attribute.valueType = optionalType(of: attribute.valueType) }
        } else if let relationship = copy.asRelationship {
            relationship.options.removeAll { $0 == .unique }
        }
        return copy
    }

    private func refuseTexts(of heir: Schema.Entity, _ root: Schema.Entity) throws(SchemaError) {
        let marked = heir.storedProperties.first { $0.asAttribute?.options.contains(.spotlight) == true }
        guard !heir.indexedTexts.isEmpty || marked != nil else { return }
        throw SchemaError(
            .invalidTextIndex, entity: heir.name, property: marked?.name ?? heir.indexedTexts.first?.properties.first,
            """
            \(heir.name) is a subclass of \(root.name) and declares a text index. Declare it in \(root.name), with texts \
            of \(root.name): a search covers the objects of all subclasses.
            """)
    }
}
