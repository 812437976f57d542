extension Schema {
    /// An attribute whose value is a structure of further attributes.
    ///
    /// Safe because a schema's parts are changed only while it is being built, before another thread sees them.
    public final class CompositeAttribute: Attribute, @unchecked Sendable {
        /// The attributes inside, in order of declaration.
        public var properties: [Attribute]

        /// Describes a composite attribute completely.
        public init(
            name: String, originalName: String? = nil, options: [Option] = [], valueType: any Any.Type,
            properties: [Attribute], defaultValue: Any? = nil, hashModifier: String? = nil
        ) {
            self.properties = properties
            super.init(
                name: name, originalName: originalName, options: options, valueType: valueType,
                defaultValue: defaultValue, hashModifier: hashModifier)
        }

        private init(copying other: CompositeAttribute) {
            properties = other.properties.map { $0.copied() }
            super.init(copying: other)
        }

        override func copied() -> Attribute { CompositeAttribute(copying: self) }

        private enum CodingKeys: String, CodingKey {
            case properties
        }

        /// Reads a composite attribute and the attributes inside it.
        public required convenience init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let properties = try container.decode([TaggedProperty].self, forKey: .properties).map { tagged in
                guard let attribute = tagged.property.asAttribute else {
                    throw DecodingError.dataCorruptedError(
                        forKey: .properties, in: container,
                        debugDescription: "A composite attribute contains something that is not an attribute.")
                }
                return attribute
            }
            self.init(written: try WrittenAttribute(from: decoder), properties: properties)
        }

        /// Makes a composite attribute from its written form.
        package init(written: WrittenAttribute, properties: [Attribute]) {
            self.properties = properties
            super.init(written: written)
        }

        /// Writes the composite attribute and the attributes inside it.
        public override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(properties.map(TaggedProperty.init), forKey: .properties)
        }

        override func isEqual(to other: Attribute) -> Bool {
            super.isEqual(to: other) && properties == (other as? CompositeAttribute)?.properties
        }
    }
}

/// A property with the word for its type: the form in which a list of mixed properties is written.
struct TaggedProperty: Codable {
    let property: any SchemaProperty

    private enum CodingKeys: String, CodingKey {
        case attribute, composite, relationship
    }

    init(_ property: any SchemaProperty) {
        self.property = property
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let attribute = try container.decodeIfPresent(Schema.Attribute.self, forKey: .attribute) {
            property = attribute
        } else if let composite = try container.decodeIfPresent(Schema.CompositeAttribute.self, forKey: .composite) {
            property = composite
        } else {
            property = try container.decode(Schema.Relationship.self, forKey: .relationship)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch property {
        case let composite as Schema.CompositeAttribute: try container.encode(composite, forKey: .composite)
        case let attribute as Schema.Attribute: try container.encode(attribute, forKey: .attribute)
        case let relationship as Schema.Relationship: try container.encode(relationship, forKey: .relationship)
        default:
            throw EncodingError.invalidValue(
                property,
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription: "Only attributes and relationships are written as properties of an entity."))
        }
    }
}
