extension Schema {
    /// A property whose values are stored in its object's row, or outside it if they are large.
    ///
    /// Safe because a schema's parts are changed only while it is being built, before another thread sees them.
    public class Attribute: SchemaProperty, CustomDebugStringConvertible, @unchecked Sendable {
        /// The name of the property.
        public var name: String
        /// How the attribute is stored; setting it may change `kind`.
        public var options: [Option] { didSet { classify() } }
        /// The declared type, with its optionals; setting it also sets `kind` and `isOptional`.
        public var valueType: any Any.Type { didSet { classify() } }
        /// Whether objects may have no value.
        public var isOptional: Bool
        /// A text in the entity's fingerprint.
        ///
        /// Changing it distinguishes versions that are otherwise equal.
        public var hashModifier: String?

        /// How values are stored.
        public private(set) var kind: AttributeKind
        /// The name of the declared type without optionals, even if the type itself is unknown.
        public private(set) var valueTypeName: String
        /// Whether values can be stored.
        ///
        /// A known type must be `Codable`, or have a transformer.
        public private(set) var isStorable: Bool

        private var explicitOriginalName: String?
        private var liveDefault: Any?
        private var liveEncoding: [UInt8]?
        private var decodedDefault: StoredDefault?

        /// The name under which an older schema knew the attribute.
        public var originalName: String {
            get { explicitOriginalName ?? name }
            set { explicitOriginalName = newValue.isEmpty ? nil : newValue }
        }

        /// The declared initial value, which also fills rows that are older than the attribute.
        ///
        /// In a schema that was read back, scalars have their value, and encoded values are nil.
        public var defaultValue: Any? {
            get { liveDefault ?? decodedDefault?.value(typeName: valueTypeName) }
            set {
                liveDefault = unwrappedValue(newValue)
                liveEncoding = nil
                decodedDefault = nil
            }
        }

        /// The default of an attribute of kind `codable` in the form of rows; nil if there is none, or it was never
        /// encoded.
        ///
        /// It does not need the model's classes, unlike `defaultValue`.
        package var encodedDefault: [UInt8]? { decodedDefault?.encoding ?? liveEncoding }

        /// Encodes the default of an attribute of kind `codable`, if its value is known.
        package func encodeDefault(_ encode: (any Encodable) throws -> [UInt8]) {
            guard kind == .codable, let value = liveDefault as? any Encodable else { return }
            liveEncoding = try? encode(value)
        }

        /// The default value in the form in which a schema is written; nil if there is none.
        package var storedDefault: StoredDefault? {
            decodedDefault ?? StoredDefault(liveDefault, kind: kind, encoding: liveEncoding)
        }

        /// The same attribute with an earlier default; nil if that default has no form in rows.
        package func replacingDefault(_ stored: StoredDefault) -> Attribute? {
            if kind == .codable, stored.encoding == nil { return nil }
            let copy = copied()
            copy.liveDefault = nil
            copy.liveEncoding = nil
            copy.decodedDefault = stored
            return copy
        }

        /// The default of an encoded attribute as JSON; nil if there is none, and for all other kinds.
        ///
        /// It does not need the model's classes, unlike `defaultValue`.
        package var defaultJSON: String? { kind == .codable ? storedDefault?.text : nil }

        /// Whether there is a value for rows that lack one.
        public var hasDefaultValue: Bool { liveDefault != nil || decodedDefault != nil }

        /// Describes the options of an attribute whose name and type are not known yet, as `@Attribute` does.
        public init(_ options: Option..., originalName: String? = nil, hashModifier: String? = nil) {
            self.name = ""
            self.options = options
            self.valueType = Any.self
            self.isOptional = false
            self.hashModifier = hashModifier
            (kind, valueTypeName, isStorable) = Attribute.classification(of: Any.self, options: options)
            self.originalName = originalName ?? ""
        }

        /// Describes an attribute completely.
        public init(
            name: String, originalName: String? = nil, options: [Option] = [], valueType: any Any.Type,
            defaultValue: Any? = nil, hashModifier: String? = nil
        ) {
            self.name = name
            self.options = options
            self.valueType = valueType
            self.isOptional = FaultlineModel.isOptional(valueType)
            self.hashModifier = hashModifier
            (kind, valueTypeName, isStorable) = Attribute.classification(of: valueType, options: options)
            self.originalName = originalName ?? ""
            self.liveDefault = unwrappedValue(defaultValue)
        }

        init(copying other: Attribute) {
            name = other.name
            options = other.options
            valueType = other.valueType
            isOptional = other.isOptional
            hashModifier = other.hashModifier
            kind = other.kind
            valueTypeName = other.valueTypeName
            isStorable = other.isStorable
            explicitOriginalName = other.explicitOriginalName
            liveDefault = other.liveDefault
            liveEncoding = other.liveEncoding
            decodedDefault = other.decodedDefault
        }

        /// An independent copy of the attribute.
        func copied() -> Attribute { Attribute(copying: self) }

        /// Always true.
        public var isAttribute: Bool { true }
        /// Always false.
        public var isRelationship: Bool { false }
        /// Whether the attribute is ephemeral, and so never stored.
        public var isTransient: Bool { options.contains(.ephemeral) }
        /// Whether no two objects share a value.
        public var isUnique: Bool { options.contains(.unique) }
        /// Whether a transformer converts the values.
        public var isTransformable: Bool { options.contains { $0.name == "transformable" } }
        /// Whether values that are not empty are stored outside rows, at any size.
        public var isStoredExternally: Bool { options.contains(.externalStorage) }

        private func classify() {
            (kind, valueTypeName, isStorable) = Attribute.classification(of: valueType, options: options)
            if valueType != Any.self { isOptional = FaultlineModel.isOptional(valueType) }
        }

        private static func classification(
            of valueType: any Any.Type, options: [Option]
        ) -> (AttributeKind, String, Bool) {
            let type = unwrappedType(valueType)
            let typeName = ScalarType(type)?.name ?? qualifiedName(of: type)
            if options.contains(where: { $0.name == "transformable" }) { return (.data, typeName, true) }
            if options.contains(.codable) { return (.codable, typeName, true) }
            // The type is not known yet.
            if type == Any.self { return (.codable, typeName, true) }
            guard let kind = AttributeKind(valueType: type) else { return (.codable, typeName, false) }
            return (kind, typeName, true)
        }

        // MARK: Coding

        private enum CodingKeys: String, CodingKey {
            case name, originalName, options, kind, valueTypeName, isOptional, hashModifier, defaultValue
        }

        /// Reads an attribute whose Swift type may be unknown; its kind is always known.
        public required convenience init(from decoder: any Decoder) throws {
            self.init(written: try WrittenAttribute(from: decoder))
        }

        /// Makes an attribute from its written form.
        package init(written: WrittenAttribute) {
            name = written.name
            explicitOriginalName = written.originalName
            options = written.options ?? []
            let scalar = ScalarType(named: written.valueTypeName).flatMap { $0.kind == written.kind ? $0.type : nil }
            let type = scalar ?? written.kind.defaultValueType
            isOptional = written.isOptional
            valueType = written.isOptional ? optionalType(of: type) : type
            hashModifier = written.hashModifier
            decodedDefault = written.defaultValue
            kind = written.kind
            valueTypeName = written.valueTypeName
            isStorable = true
        }

        /// Writes the attribute; the default value is left out if it has no written form.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encodeIfPresent(explicitOriginalName, forKey: .originalName)
            if !options.isEmpty { try container.encode(options, forKey: .options) }
            try container.encode(kind, forKey: .kind)
            try container.encode(valueTypeName, forKey: .valueTypeName)
            try container.encode(isOptional, forKey: .isOptional)
            try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
            try container.encodeIfPresent(storedDefault, forKey: .defaultValue)
        }

        // MARK: Comparing

        /// Compares everything that a written schema has; types are compared by kind and name.
        public static func == (left: Attribute, right: Attribute) -> Bool {
            left === right || left.isEqual(to: right)
        }

        /// Hashes the name, which is unique within an entity.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
        }

        func isEqual(to other: Attribute) -> Bool {
            Swift.type(of: self) == Swift.type(of: other) && name == other.name && originalName == other.originalName
                && options == other.options && kind == other.kind && valueTypeName == other.valueTypeName
                && isOptional == other.isOptional && hashModifier == other.hashModifier
                && storedDefault == other.storedDefault
        }

        /// The name, the type and the options.
        public var debugDescription: String {
            let words = options.map(\.debugDescription)
            return (["\(name): \(valueTypeName)\(isOptional ? "?" : "")"] + words).joined(separator: " ")
        }
    }
}
