extension MarkupModelReader {
    /// The attributes of an entity, or of the type of composite attributes.
    mutating func attributes(_ element: MarkupElement, at place: String) -> [ModelVersion.Attribute] {
        var attributes: [ModelVersion.Attribute] = []
        for child in element.children(named: "attribute") { attributes.append(attribute(child, of: place)) }
        return attributes
    }

    private static let known: Set<String> = [
        "name", "attributeType", "optional", "transient", "indexed", "syncable", "elementID", "versionHashModifier",
        "defaultValueString", "defaultDateTimeInterval", "minValueString", "maxValueString", "minDateTimeInterval",
        "maxDateTimeInterval", "regularExpressionString", "usesScalarValueType", "valueTransformerName",
        "customClassName", "storedInTruthFile", "allowsExternalBinaryDataStorage", "preserveAfterDeletion",
        "spotlightIndexingEnabled", "allowsCloudEncryption", "derived", "derivationExpression", "composite",
        "compositeName", "compositeType",
    ]

    private mutating func attribute(_ element: MarkupElement, of entity: String) -> ModelVersion.Attribute {
        let name = named(element, at: entity)
        let place = "\(entity).\(name)"
        check(element, at: place, Self.known)
        let typeName = element.attributes["attributeType"] ?? ""
        let type = ModelVersion.AttributeType(markup: typeName)
        if type == nil {
            findings.append(
                ModelFinding(
                    .unknown, "attributeType", at: place, line: element.line,
                    "The type \"\(typeName)\" is not known, and the schema leaves the attribute out."))
        }
        var attribute = ModelVersion.Attribute(name, type ?? .undefined)
        attribute.line = element.line
        attribute.isOptional = flag(element, "optional", at: place)
        attribute.isTransient = flag(element, "transient", at: place)
        attribute.isIndexed = flag(element, "indexed", at: place)
        attribute.renamingIdentifier = element.text(of: "elementID")
        attribute.versionHashModifier = element.text(of: "versionHashModifier")
        attribute.regularExpression = element.text(of: "regularExpressionString")
        attribute.transformerName = element.text(of: "valueTransformerName")
        attribute.isStoredExternally = flag(element, "allowsExternalBinaryDataStorage", at: place)
        attribute.isPreservedOnDeletion = flag(element, "preserveAfterDeletion", at: place)
        attribute.allowsCloudEncryption = flag(element, "allowsCloudEncryption", at: place)
        attribute.isIndexedBySpotlight = flag(element, "spotlightIndexingEnabled", at: place)
        if flag(element, "derived", at: place) || element.text(of: "derivationExpression") != nil {
            attribute.derivation = element.attributes["derivationExpression"] ?? ""
        }
        readValues(of: &attribute, element, at: place)
        readComposition(of: &attribute, element, at: place)
        for child in element.children {
            switch child.name {
            case "userInfo": attribute.userInfo = userInfo(child, at: place)
            case "attribute": break
            default: unknownElement(child, at: place)
            }
        }
        return attribute
    }

    /// Reads the default and the bounds.
    private mutating func readValues(
        of attribute: inout ModelVersion.Attribute, _ element: MarkupElement, at place: String
    ) {
        let type = attribute.type
        // The bounds of a text are lengths.
        let boundType = type == .string ? ModelVersion.AttributeType.integer64 : type
        attribute.defaultValue =
            value(element, "defaultValueString", type, at: place)
            ?? value(element, "defaultDateTimeInterval", type, at: place)
        attribute.minimum =
            value(element, "minValueString", boundType, at: place)
            ?? value(element, "minDateTimeInterval", boundType, at: place)
        attribute.maximum =
            value(element, "maxValueString", boundType, at: place)
            ?? value(element, "maxDateTimeInterval", boundType, at: place)
    }

    private mutating func value(
        _ element: MarkupElement, _ name: String, _ type: ModelVersion.AttributeType, at place: String
    ) -> ModelVersion.Value? {
        // An empty text is a value only for texts.
        guard let text = element.attributes[name], !text.isEmpty || type == .string else { return nil }
        if let value = ModelVersion.Value(text, type) { return value }
        findings.append(
            ModelFinding(
                .invalid, name, at: place, line: element.line,
                "\"\(text)\" is no value of the type \(element.attributes["attributeType"] ?? "Undefined")."))
        return nil
    }

    /// Reads the class of the values, or the parts of a composite attribute.
    private mutating func readComposition(
        of attribute: inout ModelVersion.Attribute, _ element: MarkupElement, at place: String
    ) {
        attribute.valueClassName = element.text(of: "customClassName")
        guard attribute.type == .composite else { return }
        let names = ["composite", "compositeName", "compositeType"].compactMap(element.text(of:))
        attribute.valueClassName = names.first ?? attribute.valueClassName
        let own = attributes(element, at: place)
        if !own.isEmpty {
            attribute.elements = own
        } else if let parts = attribute.valueClassName.flatMap({ composites[$0] }) {
            attribute.elements = parts
        }
    }
}
