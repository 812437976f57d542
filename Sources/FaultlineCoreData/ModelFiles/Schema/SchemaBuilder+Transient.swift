internal import FaultlineModel

extension SchemaBuilder {
    /// A transient relationship: an attribute that holds objects, is never stored, and has no inverse.
    func transient(_ relationship: ModelVersion.Relationship, to destination: String) -> Schema.Attribute {
        held(
            relationship.name, relationship.renamingIdentifier,
            relationship.isToMany ? "[\(destination)]" : destination, relationship.versionHashModifier)
    }

    /// A transient attribute without a type: it holds any value, and is never stored.
    func transient(_ attribute: ModelVersion.Attribute) -> Schema.Attribute {
        held(attribute.name, attribute.renamingIdentifier, "Any", attribute.versionHashModifier)
    }

    private func held(
        _ name: String, _ originalName: String?, _ typeName: String, _ modifier: String?
    ) -> Schema.Attribute {
        Schema.Attribute(
            written: WrittenAttribute(
                name: name, originalName: originalName, options: [.ephemeral], kind: .codable,
                valueTypeName: typeName, isOptional: true, hashModifier: modifier, defaultValue: nil))
    }
}

extension Schema.Attribute {
    /// Whether the attribute holds values of the program, such as objects, which have no stored form.
    var holdsAnyValue: Bool { isTransient && kind == .codable && !(self is Schema.CompositeAttribute) }
}
