internal import Foundation

extension ArchivedModelReader {
    /// The greatest nesting depth of composite attributes.
    private static let depthMax = 16

    /// Bits of the field NSFlagsKey.
    private enum Flag {
        /// The bounds of values have fields of their own.
        static let bounds = 1 | 2
        static let storedExternally = 4
        static let preservedOnDeletion = 16
    }

    mutating func attribute(
        _ object: ArchivedObject, name: String, at place: String, depth: Int
    ) -> ModelVersion.Attribute {
        check(
            object, at: place,
            Self.propertyFields.union([
                "NSAttributeType", "NSAttributeValueClassName", "NSDefaultValue", "NSFlagsKey",
                "NSValueTransformerName", "NSMinValue", "NSMaxValue", "NSDerivationExpression",
                "NSFilteringPredicate", "NSCompositeElements",
            ]))
        let number = object["NSAttributeType"]?.integer ?? 0
        let type = ModelVersion.AttributeType(rawValue: number)
        if type == nil {
            findings.append(
                ModelFinding(
                    .unknown, "NSAttributeType", at: place,
                    "The type \(number) is not known, and the schema leaves the attribute out."))
        }
        var attribute = ModelVersion.Attribute(name, type ?? .undefined)
        attribute.isOptional = flag(object, "NSIsOptional")
        attribute.isTransient = flag(object, "NSIsTransient")
        attribute.isIndexed = flag(object, "NSIsIndexed")
        attribute.renamingIdentifier = renaming(object, name)
        attribute.versionHashModifier = object["NSVersionHashModifier"]?.text
        attribute.transformerName = object["NSValueTransformerName"]?.text
        attribute.allowsCloudEncryption = flag(object, "NSAllowsCloudEncryption")
        attribute.isIndexedBySpotlight = flag(object, "NSIndexedBySpotlight")
        attribute.userInfo = userInfo(object)
        if attribute.type == .transformable || attribute.type == .composite {
            attribute.valueClassName = object["NSAttributeValueClassName"]?.text
        }
        if object.isKind(of: "NSDerivedAttributeDescription") {
            attribute.derivation = ArchivedPredicate.expression(object["NSDerivationExpression"]) ?? ""
        }
        readFlags(of: &attribute, object, at: place)
        readValues(of: &attribute, object, at: place)
        if depth < Self.depthMax {
            for part in object["NSCompositeElements"]?.list ?? [] {
                let name = part["NSPropertyName"]?.text ?? ""
                attribute.elements.append(
                    self.attribute(part, name: name, at: "\(place).\(name)", depth: depth + 1))
            }
        }
        return attribute
    }

    private mutating func readFlags(
        of attribute: inout ModelVersion.Attribute, _ object: ArchivedObject, at place: String
    ) {
        let bits = object["NSFlagsKey"]?.integer ?? 0
        attribute.isStoredExternally = bits & Flag.storedExternally != 0
        attribute.isPreservedOnDeletion = bits & Flag.preservedOnDeletion != 0
        let others = bits & ~(Flag.bounds | Flag.storedExternally | Flag.preservedOnDeletion)
        guard others != 0 else { return }
        findings.append(
            ModelFinding(.unknown, "NSFlagsKey", at: place, "The bits \(others) are not known, and were passed over."))
    }

    /// Reads the default, the bounds, and the conditions.
    private mutating func readValues(
        of attribute: inout ModelVersion.Attribute, _ object: ArchivedObject, at place: String
    ) {
        let type = attribute.type
        if let value = object["NSDefaultValue"] {
            attribute.defaultValue = ModelVersion.Value(value, type)
            if attribute.defaultValue == nil {
                findings.append(
                    ModelFinding(
                        .unexpressed, "NSDefaultValue", at: place,
                        "The default of the class \(value.className ?? "none") is no value of the type \(type)."))
            }
        }
        let boundType = type == .string ? ModelVersion.AttributeType.integer64 : type
        attribute.minimum = object["NSMinValue"].flatMap { ModelVersion.Value($0, boundType) }
        attribute.maximum = object["NSMaxValue"].flatMap { ModelVersion.Value($0, boundType) }
        for condition in object["NSValidationPredicates"]?.list ?? [] {
            read(condition, of: &attribute, boundType, depth: 0)
        }
    }

    /// Turns a condition into a bound or a regular expression if it is one.
    private func read(
        _ condition: ArchivedObject, of attribute: inout ModelVersion.Attribute,
        _ boundType: ModelVersion.AttributeType, depth: Int
    ) {
        let parts = condition["NSSubpredicates"]?.list ?? []
        if condition["NSCompoundPredicateType"]?.integer == 1, depth < Self.depthMax {
            for part in parts { read(part, of: &attribute, boundType, depth: depth + 1) }
            return
        }
        let subject = ArchivedPredicate.expression(condition["NSLeftExpression"])
        let constant = condition["NSRightExpression"]?["NSConstantValue"]
        let bound = constant.flatMap { ModelVersion.Value($0, boundType) }
        switch condition["NSPredicateOperator"]?["NSOperatorType"]?.integer {
        case 1 where subject == attribute.boundSubject && bound != nil && attribute.maximum == nil:
            attribute.maximum = bound
        case 3 where subject == attribute.boundSubject && bound != nil && attribute.minimum == nil:
            attribute.minimum = bound
        case 6 where subject == "SELF" && constant?.text != nil && attribute.regularExpression == nil:
            attribute.regularExpression = constant?.text
        default:
            attribute.conditions.append(ArchivedPredicate.text(of: condition) ?? "")
        }
    }
}

extension ModelVersion.Attribute {
    /// The left side of a condition that is a bound.
    fileprivate var boundSubject: String { type == .string ? "length" : "SELF" }
}

extension ModelVersion.Value {
    /// The value of a type in an archive; nil if the object is no such value.
    init?(_ object: ArchivedObject, _ type: ModelVersion.AttributeType) {
        switch type {
        case .integer16, .integer32, .integer64:
            guard let value = object.integer ?? object.number.flatMap({ Int(exactly: $0) }) else { return nil }
            self = .integer(Int64(value))
        case .decimal:
            guard let value = object.decimal ?? object.number.map({ Decimal($0) }) else { return nil }
            self = .decimal(value)
        case .double, .float:
            guard let value = object.number else { return nil }
            self = .number(value)
        case .boolean:
            guard let value = object.integer, value == 0 || value == 1 else { return nil }
            self = .flag(value == 1)
        case .string:
            guard let value = object.text else { return nil }
            self = .text(value)
        case .date:
            guard let value = object.date else { return nil }
            self = .date(value)
        case .binary:
            guard let value = object.data else { return nil }
            self = .data(value)
        case .uuid:
            guard let value = object.uuid ?? object.text.flatMap(UUID.init(uuidString:)) else { return nil }
            self = .uuid(value)
        case .uri:
            guard let value = object.url ?? object.text.flatMap({ URL(string: $0) }) else { return nil }
            self = .url(value)
        case .undefined, .transformable, .objectID, .composite: return nil
        }
    }
}
