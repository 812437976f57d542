extension Schema {
    /// A property that refers to one object, or to several.
    ///
    /// Safe because a schema's parts are changed only while it is being built, before another thread sees them.
    public final class Relationship: SchemaProperty, CustomDebugStringConvertible, @unchecked Sendable {
        /// An option for a relationship.
        public struct Option: Codable, Hashable, CustomDebugStringConvertible, Sendable {
            package let name: String

            /// Makes the option with a written name.
            package init(name: String) { self.name = name }

            /// No two objects refer to the same one; for to-one relationships only.
            public static let unique = Option(name: "unique")

            /// The name of the option.
            public var debugDescription: String { ".\(name)" }
        }

        /// The effect of deleting an owner on the objects that it refers to.
        public enum DeleteRule: String, Codable, Sendable {
            /// They keep referring to the deleted object.
            case noAction
            /// Their reference to the owner is cleared.
            case nullify
            /// They are deleted too.
            case cascade
            /// The owner cannot be deleted while there are any.
            case deny
        }

        /// The name of the property.
        public var name: String
        /// The key path of the property; nil without the model class.
        public var keypath: AnyKeyPath?
        /// Options for the relationship.
        public var options: [Option]
        /// The declared type: a model class, an array of one, or an optional of either.
        public var valueType: any Any.Type { didSet { classify() } }
        /// The name of the entity referred to.
        public var destination: String
        /// The effect of deleting an owner on the objects that it refers to.
        public var deleteRule: DeleteRule
        /// The inverse relationship of the destination; nil if there is none.
        public var inverseName: String?
        /// The key path of the inverse, as declared.
        public var inverseKeyPath: AnyKeyPath?
        /// The least number of objects; nil or 0 means no minimum.
        public var minimumModelCount: Int?
        /// The greatest number of objects; nil or 0 means no maximum.
        public var maximumModelCount: Int?
        /// A text in the entity's fingerprint.
        ///
        /// Changing it distinguishes versions that are otherwise equal.
        public var hashModifier: String?
        /// Whether the relationship refers to one object at most.
        public private(set) var isToOneRelationship: Bool
        /// Whether the property is declared optional; a required to-one must refer to an object.
        public private(set) var isOptional: Bool

        /// Whether the declaration names an inverse, or states that there is none: then nothing is inferred.
        package private(set) var declaresInverse: Bool
        private var explicitOriginalName: String?

        /// The name under which an older schema knew the relationship.
        public var originalName: String {
            get { explicitOriginalName ?? name }
            set { explicitOriginalName = newValue.isEmpty ? nil : newValue }
        }

        /// Describes the options of a relationship whose inverse, if it has one, is to be inferred.
        public convenience init(
            _ options: Option..., deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0,
            maximumModelCount: Int? = 0, originalName: String? = nil, hashModifier: String? = nil
        ) {
            self.init(
                name: "", originalName: originalName, options: options, destination: "", isToOne: false,
                isOptional: true, deleteRule: deleteRule, minimumModelCount: minimumModelCount,
                maximumModelCount: maximumModelCount, hashModifier: hashModifier)
            declaresInverse = false
        }

        /// Describes the options of a relationship and its inverse; nil means that there is none.
        public convenience init(
            _ options: Option..., deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0,
            maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath?,
            hashModifier: String? = nil
        ) {
            self.init(
                name: "", originalName: originalName, options: options, destination: "", isToOne: false,
                isOptional: true, deleteRule: deleteRule, minimumModelCount: minimumModelCount,
                maximumModelCount: maximumModelCount, hashModifier: hashModifier)
            inverseKeyPath = inverse
            declaresInverse = true
        }

        /// Describes a relationship completely, without model classes.
        ///
        /// `inverseName` is final: nothing is inferred for a relationship made this way.
        public init(
            name: String, originalName: String? = nil, options: [Option] = [], destination: String, isToOne: Bool,
            isOptional: Bool = true, deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0,
            maximumModelCount: Int? = 0, inverseName: String? = nil, hashModifier: String? = nil
        ) {
            self.name = name
            self.options = options
            self.valueType = Any.self
            self.destination = destination
            self.deleteRule = deleteRule
            self.inverseName = inverseName
            self.minimumModelCount = minimumModelCount
            self.maximumModelCount = maximumModelCount
            self.hashModifier = hashModifier
            self.isToOneRelationship = isToOne
            self.isOptional = isOptional
            self.declaresInverse = true
            self.originalName = originalName ?? ""
        }

        private init(copying other: Relationship) {
            name = other.name
            keypath = other.keypath
            options = other.options
            valueType = other.valueType
            destination = other.destination
            deleteRule = other.deleteRule
            inverseName = other.inverseName
            inverseKeyPath = other.inverseKeyPath
            minimumModelCount = other.minimumModelCount
            maximumModelCount = other.maximumModelCount
            hashModifier = other.hashModifier
            isToOneRelationship = other.isToOneRelationship
            isOptional = other.isOptional
            declaresInverse = other.declaresInverse
            explicitOriginalName = other.explicitOriginalName
        }

        /// An independent copy of the relationship.
        func copied() -> Relationship { Relationship(copying: self) }

        /// Always false.
        public var isAttribute: Bool { false }
        /// Always true.
        public var isRelationship: Bool { true }
        /// Always false.
        public var isTransient: Bool { false }
        /// Whether no two objects refer to the same one.
        public var isUnique: Bool { options.contains(.unique) }

        private func classify() {
            guard valueType != Any.self else { return }
            isOptional = FaultlineModel.isOptional(valueType)
            if case .array = TypeShape(of: unwrappedType(valueType)) {
                isToOneRelationship = false
            } else {
                isToOneRelationship = true
            }
        }

        // MARK: Coding

        private enum CodingKeys: String, CodingKey {
            case name, originalName, options, destination, deleteRule, inverseName, minimumModelCount
            case maximumModelCount, hashModifier, isToOne, isOptional
        }

        /// Reads a relationship; its classes are not known, so it has no key paths.
        public required convenience init(from decoder: any Decoder) throws {
            self.init(written: try WrittenRelationship(from: decoder))
        }

        /// Makes a relationship from its written form.
        package init(written: WrittenRelationship) {
            name = written.name
            explicitOriginalName = written.originalName
            options = written.options ?? []
            valueType = Any.self
            destination = written.destination
            deleteRule = written.deleteRule
            inverseName = written.inverseName
            minimumModelCount = written.minimumModelCount
            maximumModelCount = written.maximumModelCount
            hashModifier = written.hashModifier
            isToOneRelationship = written.isToOne
            isOptional = written.isOptional
            declaresInverse = true
        }

        /// Writes the relationship by names.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encodeIfPresent(explicitOriginalName, forKey: .originalName)
            if !options.isEmpty { try container.encode(options, forKey: .options) }
            try container.encode(destination, forKey: .destination)
            try container.encode(deleteRule, forKey: .deleteRule)
            try container.encodeIfPresent(inverseName, forKey: .inverseName)
            try container.encodeIfPresent(minimumModelCount, forKey: .minimumModelCount)
            try container.encodeIfPresent(maximumModelCount, forKey: .maximumModelCount)
            try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
            try container.encode(isToOneRelationship, forKey: .isToOne)
            try container.encode(isOptional, forKey: .isOptional)
        }

        // MARK: Comparing

        /// Compares everything that a written schema has, so not key paths and types.
        public static func == (left: Relationship, right: Relationship) -> Bool {
            left === right
                || (left.name == right.name && left.originalName == right.originalName
                    && left.options == right.options && left.destination == right.destination
                    && left.deleteRule == right.deleteRule && left.inverseName == right.inverseName
                    && left.minimumModelCount == right.minimumModelCount
                    && left.maximumModelCount == right.maximumModelCount
                    && left.hashModifier == right.hashModifier && left.isOptional == right.isOptional
                    && left.isToOneRelationship == right.isToOneRelationship)
        }

        /// Hashes the name, which is unique within an entity.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
        }

        /// The name, the destination, and the delete rule.
        public var debugDescription: String {
            let type = isToOneRelationship ? destination : "[\(destination)]"
            let inverse = inverseName.map { " inverse \(destination).\($0)" } ?? ""
            return "\(name): \(type)\(isOptional ? "?" : "") .\(deleteRule.rawValue)\(inverse)"
        }
    }
}
