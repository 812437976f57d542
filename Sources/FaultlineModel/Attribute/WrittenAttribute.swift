/// The written form of an attribute.
///
/// It is `Decodable` for readers of schemas; the store's catalog, which is read at every opening, has a separate
/// reader.
package struct WrittenAttribute: Decodable, Sendable {
    let name: String
    let originalName: String?
    let options: [Schema.Attribute.Option]?
    let kind: AttributeKind
    let valueTypeName: String
    let isOptional: Bool
    let hashModifier: String?
    let defaultValue: StoredDefault?

    package init(
        name: String, originalName: String?, options: [Schema.Attribute.Option]?, kind: AttributeKind,
        valueTypeName: String, isOptional: Bool, hashModifier: String?, defaultValue: StoredDefault?
    ) {
        self.name = name
        self.originalName = originalName
        self.options = options
        self.kind = kind
        self.valueTypeName = valueTypeName
        self.isOptional = isOptional
        self.hashModifier = hashModifier
        self.defaultValue = defaultValue
    }
}

/// The written form of a relationship.
package struct WrittenRelationship: Decodable, Sendable {
    let name: String
    let originalName: String?
    let options: [Schema.Relationship.Option]?
    let destination: String
    let deleteRule: Schema.Relationship.DeleteRule
    let inverseName: String?
    let minimumModelCount: Int?
    let maximumModelCount: Int?
    let hashModifier: String?
    let isToOne: Bool
    let isOptional: Bool

    package init(
        name: String, originalName: String?, options: [Schema.Relationship.Option]?, destination: String,
        deleteRule: Schema.Relationship.DeleteRule, inverseName: String?, minimumModelCount: Int?,
        maximumModelCount: Int?, hashModifier: String?, isToOne: Bool, isOptional: Bool
    ) {
        self.name = name
        self.originalName = originalName
        self.options = options
        self.destination = destination
        self.deleteRule = deleteRule
        self.inverseName = inverseName
        self.minimumModelCount = minimumModelCount
        self.maximumModelCount = maximumModelCount
        self.hashModifier = hashModifier
        self.isToOne = isToOne
        self.isOptional = isOptional
    }
}
