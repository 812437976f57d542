extension Schema {
    /// A model class that inherits from another one, as the entity of its root class keeps it.
    ///
    /// The objects of a root class and of all its subclasses are rows of one table. The entity of the table has the
    /// properties of all classes, and for each subclass an attribute more, its *mark*: true in the rows of its objects
    /// and of its own subclasses' objects, nil in all others.
    package struct Heir: Codable, Hashable, Sendable {
        /// A property that the class itself declares, and the property of the table's entity that holds it.
        package struct Column: Codable, Hashable, Sendable {
            package var property: String
            package var column: String
            /// Whether the class declares it optional: the column is, since rows of other classes have no value.
            package var isOptional: Bool

            package init(property: String, column: String, isOptional: Bool) {
                self.property = property
                self.column = column
                self.isOptional = isOptional
            }
        }

        package var name: String
        /// The name under which an older schema knew the class; nil if it was never renamed.
        package var originalName: String?
        /// The name of the class that it inherits from.
        package var superName: String
        /// The declared properties, in the order of their declaration.
        package var columns: [Column]

        package init(name: String, originalName: String? = nil, superName: String, columns: [Column]) {
            self.name = name
            self.originalName = originalName
            self.superName = superName
            self.columns = columns
        }

        /// The name of the attribute that marks the class's rows: no Swift property can have it.
        package var markName: String { Self.markName(of: name) }

        package static func markName(of className: String) -> String { "$\(className)" }

        /// Whether a property of an entity is the mark of a class.
        package static func isMark(_ name: String) -> Bool { name.utf8.first == UInt8(ascii: "$") }
    }
}

extension Schema.Entity {
    /// Whether the rows of several classes are in the entity's table.
    package var hasHeirs: Bool { !heirs.isEmpty }

    /// The subclass of a name, if its objects are in the entity's table.
    package func heir(named name: String) -> Schema.Heir? { heirs.first { $0.name == name } }

    /// The names of the columns of a class by the names of its properties, inherited ones included; the entity itself is
    /// the root class.
    package func columnNames(ofClass name: String) -> [String: String] {
        var names: [String: String] = [:]
        var next = heir(named: name)
        // A list that has not been checked may have a circle.
        for _ in heirs {
            guard let heir = next else { break }
            for column in heir.columns { names[column.property] = column.column }
            next = self.heir(named: heir.superName)
        }
        for name in rootPropertyNames { names[name] = name }
        return names
    }

    /// The properties of the root class: all of an entity without heirs.
    package var rootPropertyNames: [String] {
        guard hasHeirs else { return properties.map(\.name) }
        let others = Set(heirs.flatMap { $0.columns.map(\.column) })
        return properties.map(\.name).filter { !others.contains($0) && !Schema.Heir.isMark($0) }
    }
}

extension Schema.Entity {
    /// A property as the subclass declares it that has it: its column is optional in any case.
    func declared(_ property: any SchemaProperty) -> any SchemaProperty {
        guard hasHeirs, let attribute = property.asAttribute, attribute.isOptional,
            heirs.contains(where: { heir in
                heir.columns.contains { $0.column == attribute.name && !$0.isOptional }
            })
        else { return property }
        let copy = attribute.copied()
        copy.isOptional = false
        return copy
    }
}

extension Schema.Entity {
    /// Checks that the list of subclasses agrees with the properties.
    ///
    /// - Throws: The first contradiction.
    /// - Complexity: O(n log n) for n properties and columns of all classes, times the depth of the hierarchy.
    package func checkHeirs() throws(SchemaError) {
        guard hasHeirs else { return }
        let properties = Dictionary(self.properties.map { ($0.name, $0) }) { first, _ in first }
        // The columns of each class that was seen, inherited ones included.
        var known: [String: Set<String>] = [name: []]
        for heir in heirs {
            guard known[heir.name] == nil else {
                throw SchemaError(
                    .duplicateName, entity: heir.name,
                    "Two classes of the table of \(name) are named \(heir.name). Give each a name of its own.")
            }
            guard var taken = known[heir.superName] else {
                throw SchemaError(
                    .unknownSuperentity, entity: heir.name,
                    """
                    \(heir.name) inherits from \(heir.superName), which is not before it among the classes of the \
                    table of \(name). List each class behind its superclass.
                    """)
            }
            guard let mark = properties[heir.markName]?.asAttribute, mark.kind == .bool, mark.isOptional,
                !mark.isTransient
            else {
                throw SchemaError(
                    .unknownProperty, entity: heir.name, property: heir.markName,
                    """
                    The rows of \(heir.name) have no mark: \(heir.markName) must be an optional stored Bool of \(name).
                    """)
            }
            for column in heir.columns {
                guard properties[column.column] != nil, !Schema.Heir.isMark(column.column) else {
                    throw SchemaError(
                        .unknownProperty, entity: heir.name, property: column.property,
                        """
                        \(heir.name).\(column.property) is in \(column.column), which is not a property of the table \
                        of \(name). Name a property of it.
                        """)
                }
                guard taken.insert(column.column).inserted else {
                    throw SchemaError(
                        .duplicateName, entity: heir.name, property: column.property,
                        """
                        \(heir.name).\(column.property) is in \(column.column), which has another property of the \
                        class. Give each a property of the table.
                        """)
                }
            }
            known[heir.name] = taken
        }
    }
}

extension Schema {
    /// Whether a table of the schema has the rows of several classes.
    package var hasHeirs: Bool { entities.contains(where: \.hasHeirs) }
}
