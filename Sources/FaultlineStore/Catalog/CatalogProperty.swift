internal import FaultlineModel

// The catalog's entries, member by member: `docs/FileFormat.md` section 7.1. These readers accept the same bytes as
// `Decodable`, and give the same values.

extension Schema {
    convenience init(_ value: inout CatalogValue) throws(CatalogFault) {
        let encodingVersion = try Version(within: &value, "encodingVersion")
        guard encodingVersion.major <= Schema.schemaEncodingVersion.major else {
            throw CatalogFault(
                "it was written in form \(encodingVersion); this library reads up to \(Schema.schemaEncodingVersion)")
        }
        self.init(
            written: try Version(within: &value, "version"), encodingVersion: encodingVersion,
            entities: try value.values("entities") { (entity) throws(CatalogFault) in try Entity(&entity) })
    }
}

extension Schema.Version {
    fileprivate init(within value: inout CatalogValue, _ key: StaticString) throws(CatalogFault) {
        var version = try value.value(key)
        do throws(CatalogFault) {
            let numbers = (
                try version.integer("major", as: Int.self), try version.integer("minor", as: Int.self),
                try version.integer("patch", as: Int.self)
            )
            guard numbers.0 >= 0, numbers.1 >= 0, numbers.2 >= 0 else {
                throw CatalogFault("it has a negative number")
            }
            self.init(numbers.0, numbers.1, numbers.2)
        } catch { throw error.at(key) }
    }
}

extension Schema.Entity {
    fileprivate convenience init(_ value: inout CatalogValue) throws(CatalogFault) {
        self.init(
            written: try value.string("name"), originalName: try value.optionalString("originalName"),
            superentityName: try value.optionalString("superentityName"),
            properties: try value.values("properties") { (tagged) throws(CatalogFault) in
                try CatalogProperty.read(&tagged)
            },
            uniquenessConstraints: try value.groupsOfNames("uniquenessConstraints"),
            indices: try value.groupsOfNames("indices"),
            indexedTexts: try value.optionalList("indexedTexts") { (view, depth) throws(CatalogFault) in
                var text = try CatalogValue(view, depth: depth)
                return Schema.IndexedText(
                    try text.list("properties") { (view, _) throws(CatalogFault) in
                        guard let name = view.string else { throw CatalogFault("it is no text") }
                        return name
                    },
                    weights: try text.list("weights") { (view, _) throws(CatalogFault) in
                        guard let weight = view.floatingPoint(Double.self) else {
                            throw CatalogFault("it is no number")
                        }
                        return weight
                    })
            } ?? [])
        heirs =
            try value.optionalList("heirs") { (view, depth) throws(CatalogFault) in
                var heir = try CatalogValue(view, depth: depth)
                return Schema.Heir(
                    name: try heir.string("name"), originalName: try heir.optionalString("originalName"),
                    superName: try heir.string("superName"),
                    columns: try heir.list("columns") { (view, depth) throws(CatalogFault) in
                        var column = try CatalogValue(view, depth: depth)
                        return Schema.Heir.Column(
                            property: try column.string("property"), column: try column.string("column"),
                            isOptional: try column.bool("isOptional"))
                    })
            } ?? []
    }
}

/// A property, keyed by the word for its type.
private enum CatalogProperty {
    static func read(_ tagged: inout CatalogValue) throws(CatalogFault) -> any SchemaProperty {
        if let attribute = try attribute(&tagged) { return attribute }
        var relationship = try tagged.value("relationship")
        do throws(CatalogFault) {
            return Schema.Relationship(written: try WrittenRelationship(&relationship))
        } catch { throw error.at("relationship") }
    }

    /// The attribute, composite or not; nil for a relationship.
    private static func attribute(_ tagged: inout CatalogValue) throws(CatalogFault) -> Schema.Attribute? {
        if var attribute = try tagged.optionalValue("attribute") {
            do throws(CatalogFault) {
                return Schema.Attribute(written: try WrittenAttribute(&attribute))
            } catch { throw error.at("attribute") }
        }
        guard var composite = try tagged.optionalValue("composite") else { return nil }
        do throws(CatalogFault) {
            let written = try WrittenAttribute(&composite)
            // The depth of the values ends the recursion.
            let properties = try composite.values("properties") { (inner) throws(CatalogFault) in
                guard let attribute = try Self.attribute(&inner) else {
                    throw CatalogFault("a composite attribute has a property that is not an attribute")
                }
                return attribute
            }
            return Schema.CompositeAttribute(written: written, properties: properties)
        } catch { throw error.at("composite") }
    }
}

extension WrittenAttribute {
    fileprivate init(_ value: inout CatalogValue) throws(CatalogFault) {
        self.init(
            name: try value.string("name"), originalName: try value.optionalString("originalName"),
            options: try value.optionalList("options") { (view, depth) throws(CatalogFault) in
                var option = try CatalogValue(view, depth: depth)
                return Schema.Attribute.Option(
                    try option.string("name"), transformerName: try option.optionalString("transformerName"))
            },
            kind: try value.attributeKind("kind"), valueTypeName: try value.string("valueTypeName"),
            isOptional: try value.bool("isOptional"), hashModifier: try value.optionalString("hashModifier"),
            defaultValue: try value.optionalDefault("defaultValue"))
    }
}

extension WrittenRelationship {
    fileprivate init(_ value: inout CatalogValue) throws(CatalogFault) {
        self.init(
            name: try value.string("name"), originalName: try value.optionalString("originalName"),
            options: try value.optionalList("options") { (view, depth) throws(CatalogFault) in
                var option = try CatalogValue(view, depth: depth)
                return Schema.Relationship.Option(name: try option.string("name"))
            },
            destination: try value.string("destination"), deleteRule: try value.deleteRule("deleteRule"),
            inverseName: try value.optionalString("inverseName"),
            minimumModelCount: try value.optionalInteger("minimumModelCount"),
            maximumModelCount: try value.optionalInteger("maximumModelCount"),
            hashModifier: try value.optionalString("hashModifier"), isToOne: try value.bool("isToOne"),
            isOptional: try value.bool("isOptional"))
    }
}

extension CatalogValue {
    fileprivate mutating func optionalDefault(_ key: StaticString) throws(CatalogFault) -> StoredDefault? {
        guard var value = try optionalValue(key) else { return nil }
        do throws(CatalogFault) {
            return StoredDefault(
                kind: try value.attributeKind("kind"), text: try value.string("text"),
                nested: try value.optionalString("nested"))
        } catch { throw error.at(key) }
    }

    fileprivate mutating func attributeKind(_ key: StaticString) throws(CatalogFault) -> AttributeKind {
        let number = try integer(key, as: UInt8.self)
        guard let kind = AttributeKind(rawValue: number) else {
            throw CatalogFault("attribute kind \(number) is not known to this release")
        }
        return kind
    }

    fileprivate mutating func deleteRule(_ key: StaticString) throws(CatalogFault) -> Schema.Relationship.DeleteRule {
        let name = try string(key)
        guard let rule = Schema.Relationship.DeleteRule(rawValue: name) else {
            throw CatalogFault("delete rule \(name) is not known to this release")
        }
        return rule
    }

    fileprivate mutating func columnKind(_ key: StaticString) throws(CatalogFault) -> ColumnKind {
        let number = try integer(key, as: UInt8.self)
        guard let kind = ColumnKind(rawValue: number) else {
            throw CatalogFault("column kind \(number) is not known to this release")
        }
        return kind
    }
}

extension EntityMap {
    init(_ value: inout CatalogValue) throws(CatalogFault) {
        self.init(
            entities: try value.values("entities") { (entity) throws(CatalogFault) in try StoredEntity(&entity) },
            links: try value.values("links") { (link) throws(CatalogFault) in try StoredLink(&link) },
            counters: try NumberCounters(within: &value))
    }
}

extension StoredEntity {
    fileprivate init(_ value: inout CatalogValue) throws(CatalogFault) {
        self.init(
            name: try value.string("name"), table: try value.integer("table"), layout: try value.integer("layout"),
            columns: try value.values("columns") { (column) throws(CatalogFault) in
                StoredColumn(
                    name: try column.string("name"), number: try column.integer("number"),
                    relationshipIndex: try column.integer("relationshipIndex"),
                    missing: try column.optionalList("missing") { (view, depth) throws(CatalogFault) in
                        var missing = try CatalogValue(view, depth: depth)
                        return MissingValue(
                            below: try missing.integer("below"), default: try missing.optionalDefault("default"))
                    })
            },
            uniqueIndexes: try value.values("uniqueIndexes") { (index) throws(CatalogFault) in
                StoredUniqueIndex(index: try index.integer("index"), columns: try index.integers("columns"))
            },
            secondaryIndexes: try value.optionalList("secondaryIndexes") { (view, depth) throws(CatalogFault) in
                var index = try CatalogValue(view, depth: depth)
                return StoredSecondaryIndex(
                    index: try index.integer("index"), columns: try index.integers("columns"))
            },
            textIndexes: try value.optionalList("textIndexes") { (view, depth) throws(CatalogFault) in
                var index = try CatalogValue(view, depth: depth)
                return StoredTextIndex(
                    index: try index.integer("index"), columns: try index.integers("columns"),
                    tokenizer: try index.string("tokenizer"), version: try index.integer("version"))
            })
    }
}

extension StoredLink {
    fileprivate init(_ value: inout CatalogValue) throws(CatalogFault) {
        self.init(
            table: try value.integer("table"), layout: try value.integer("layout"),
            leftColumn: try value.integer("leftColumn"), rightColumn: try value.integer("rightColumn"),
            leftIndex: try value.integer("leftIndex"), rightIndex: try value.integer("rightIndex"))
    }
}

extension NumberCounters {
    fileprivate init(within map: inout CatalogValue) throws(CatalogFault) {
        var value = try map.value("counters")
        self.init()
        do throws(CatalogFault) {
            table = try value.integer("table")
            column = try value.integer("column")
            layout = try value.integer("layout")
            index = try value.integer("index")
            migration = try value.integer("migration")
        } catch { throw error.at("counters") }
    }
}

extension RowLayout {
    convenience init(_ value: inout CatalogValue) throws(CatalogFault) {
        let number = try value.integer("number", as: UInt16.self)
        let entityName = try value.string("entity")
        let fixedByteCount = try value.integer("fixed", as: Int.self)
        let columns = try value.values("columns") { (column) throws(CatalogFault) in try Column(&column) }
        do throws(RowError) {
            try self.init(
                registered: number, entityName: entityName, columns: columns, fixedByteCount: fixedByteCount)
        } catch { throw CatalogFault(error.message) }
    }
}

extension Column {
    fileprivate init(_ value: inout CatalogValue) throws(CatalogFault) {
        let isOptional = try value.optionalBool("optional") ?? false
        self.init(
            number: try value.integer("number"), kind: try value.columnKind("kind"),
            offset: try value.integer("offset"), width: try value.integer("width"),
            ordinal: try value.optionalInteger("variable") ?? -1, nilBit: isOptional ? try value.integer("bit") : -1,
            externalThreshold: try value.optionalInteger("threshold") ?? Column.defaultExternalThreshold)
    }
}
