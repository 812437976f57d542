extension Schema {
    /// A kind of object: its name and its properties.
    ///
    /// The order of `properties` is the order of slots: inherited properties first, then the declared ones in source
    /// order.
    ///
    /// Safe because a schema's parts are changed only while it is being built, before another thread sees them.
    public final class Entity: Codable, Hashable, CustomDebugStringConvertible, @unchecked Sendable {
        /// The unqualified name of the class, or the name given to the entity.
        public var name: String
        /// The name under which an older schema knew the entity; the same as `name` if it was never renamed.
        public var originalName: String {
            get { explicitOriginalName ?? name }
            set { explicitOriginalName = newValue.isEmpty ? nil : newValue }
        }
        /// Whether an older schema knew the entity under another name.
        package var isRenamed: Bool { originalName != name }
        /// The entities that inherit from this one; setting it passes the properties down to them.
        public var subentities: Set<Entity> { didSet { adoptSubentities() } }
        /// The name of the entity that this one inherits from.
        public var superentityName: String?
        /// The entity that this one inherits from.
        ///
        /// The reference is weak, and the schema keeps the entity alive.
        public private(set) weak var superentity: Entity?
        /// The properties that the entity itself declares: attributes and relationships.
        public var storedProperties: [any SchemaProperty] { didSet { adoptSubentities() } }
        /// The properties of the entity that this one inherits from, in slot order.
        public var inheritedProperties: [any SchemaProperty]
        /// Groups of properties whose combined values are unique.
        ///
        /// Attributes that are unique by themselves need no group.
        public var uniquenessConstraints: [[String]]
        /// Groups of properties by which objects can be found and ordered without reading all of them.
        public var indices: [[String]]
        /// Groups of texts in which objects can be searched for words, as `#TextIndex` declares them.
        ///
        /// An attribute that is marked `.spotlight` needs no group.
        public var indexedTexts: [IndexedText]

        /// The subclasses whose objects are in the entity's table, each after the class that it inherits from.
        package var heirs: [Heir] = []
        /// The name of each property of the model class by its key path; empty without the class.
        package var namesByKeyPath: [AnyKeyPath: String] = [:]
        /// The model class of the entity; nil without the class.
        package var modelType: (any Any.Type)?
        private var explicitOriginalName: String?

        /// Makes an entity without properties.
        public convenience init(_ name: String) {
            self.init(name, subentities: [], properties: [])
        }

        /// Makes an entity with properties in slot order.
        public convenience init(_ name: String, properties: any SchemaProperty...) {
            self.init(name, subentities: [], properties: properties)
        }

        /// Makes an entity that other entities inherit from.
        public convenience init(_ name: String, subentities: Entity..., properties: any SchemaProperty...) {
            self.init(name, subentities: subentities, properties: properties)
        }

        /// Makes an entity from lists of entities and properties.
        public init(
            _ name: String, subentities: [Entity], properties: [any SchemaProperty],
            uniquenessConstraints: [[String]] = [], indices: [[String]] = [], indexedTexts: [IndexedText] = []
        ) {
            self.name = name
            self.subentities = Set(subentities)
            self.storedProperties = properties.filter { $0.isAttribute || $0.isRelationship }
            self.inheritedProperties = []
            self.uniquenessConstraints = uniquenessConstraints
            self.indices = indices
            self.indexedTexts = indexedTexts
            adoptSubentities()
        }

        /// All properties in slot order, inherited ones first.
        ///
        /// - Complexity: O(n) for n properties.
        public var properties: [any SchemaProperty] { inheritedProperties + storedProperties }

        /// The attributes that the entity itself declares.
        ///
        /// Setting it puts new attributes behind all other properties, ordered by name.
        ///
        /// - Complexity: O(n) for n declared properties.
        public var attributes: Set<Attribute> {
            get { Set(storedProperties.compactMap { $0.asAttribute }) }
            set {
                let added = newValue.subtracting(attributes).sorted { $0.name < $1.name }
                storedProperties = storedProperties.filter { $0.asAttribute.map(newValue.contains) ?? true } + added
            }
        }

        /// The relationships that the entity itself declares.
        ///
        /// Setting it puts new relationships behind all other properties, ordered by name.
        ///
        /// - Complexity: O(n) for n declared properties.
        public var relationships: Set<Relationship> {
            get { Set(storedProperties.compactMap { $0.asRelationship }) }
            set {
                let added = newValue.subtracting(relationships).sorted { $0.name < $1.name }
                storedProperties =
                    storedProperties.filter { $0.asRelationship.map(newValue.contains) ?? true } + added
            }
        }

        /// The attributes that the entity itself declares, by name.
        ///
        /// - Complexity: O(n) for n declared properties.
        public var attributesByName: [String: Attribute] {
            Dictionary(storedProperties.compactMap { $0.asAttribute }.map { ($0.name, $0) }) { first, _ in first }
        }
        /// The relationships that the entity itself declares, by name.
        ///
        /// - Complexity: O(n) for n declared properties.
        public var relationshipsByName: [String: Relationship] {
            Dictionary(storedProperties.compactMap { $0.asRelationship }.map { ($0.name, $0) }) { first, _ in first }
        }
        /// All properties that the entity itself declares, by name.
        ///
        /// - Complexity: O(n) for n declared properties.
        public var storedPropertiesByName: [String: any SchemaProperty] {
            Dictionary(storedProperties.map { ($0.name, $0) }) { first, _ in first }
        }
        /// All properties that the entity inherits, by name.
        ///
        /// - Complexity: O(n) for n inherited properties.
        public var inheritedPropertiesByName: [String: any SchemaProperty] {
            Dictionary(inheritedProperties.map { ($0.name, $0) }) { first, _ in first }
        }

        /// Every uniqueness constraint, with those of single attributes and relationships.
        ///
        /// Names within a constraint are sorted, and so are the constraints. None occurs twice.
        ///
        /// - Complexity: O(n log n) for n properties and names in constraints.
        public var allUniquenessConstraints: [[String]] {
            let single = properties.filter(\.isUnique).map { [$0.name] }
            let all = Set(single + uniquenessConstraints.map { Set($0).sorted(by: precedes) })
            return all.sorted { $0.lexicographicallyPrecedes($1, by: precedes) }
        }

        /// Passes this entity's properties to its subentities.
        ///
        /// A cycle ends at the entity where it began.
        private func adoptSubentities() {
            for entity in subentities where entity !== self {
                entity.inherit(from: self, under: [ObjectIdentifier(self)])
            }
        }

        private func inherit(from parent: Entity, under ancestors: Set<ObjectIdentifier>) {
            superentity = parent
            superentityName = parent.name
            inheritedProperties = parent.properties
            let ancestors = ancestors.union([ObjectIdentifier(self)])
            for entity in subentities where !ancestors.contains(ObjectIdentifier(entity)) {
                entity.inherit(from: self, under: ancestors)
            }
        }

        // MARK: Coding

        private enum CodingKeys: String, CodingKey {
            case name, originalName, superentityName, properties, uniquenessConstraints, indices, indexedTexts
            case heirs
        }

        /// Reads a single entity; its schema connects it with its super- and subentities.
        public convenience init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                written: try container.decode(String.self, forKey: .name),
                originalName: try container.decodeIfPresent(String.self, forKey: .originalName),
                superentityName: try container.decodeIfPresent(String.self, forKey: .superentityName),
                properties: try container.decode([TaggedProperty].self, forKey: .properties).map(\.property),
                uniquenessConstraints: try container.decodeIfPresent([[String]].self, forKey: .uniquenessConstraints)
                    ?? [],
                indices: try container.decodeIfPresent([[String]].self, forKey: .indices) ?? [],
                indexedTexts: try container.decodeIfPresent([IndexedText].self, forKey: .indexedTexts) ?? [])
            heirs = try container.decodeIfPresent([Heir].self, forKey: .heirs) ?? []
        }

        /// Makes a single entity from its written form.
        package init(
            written name: String, originalName: String?, superentityName: String?, properties: [any SchemaProperty],
            uniquenessConstraints: [[String]], indices: [[String]], indexedTexts: [IndexedText] = []
        ) {
            self.name = name
            explicitOriginalName = originalName
            self.superentityName = superentityName
            storedProperties = properties
            self.uniquenessConstraints = uniquenessConstraints
            self.indices = indices
            self.indexedTexts = indexedTexts
            subentities = []
            inheritedProperties = []
        }

        /// Writes the entity with its own declarations.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encodeIfPresent(explicitOriginalName, forKey: .originalName)
            try container.encodeIfPresent(superentityName, forKey: .superentityName)
            try container.encode(storedProperties.map(TaggedProperty.init), forKey: .properties)
            if !uniquenessConstraints.isEmpty {
                try container.encode(uniquenessConstraints, forKey: .uniquenessConstraints)
            }
            if !indices.isEmpty { try container.encode(indices, forKey: .indices) }
            if !indexedTexts.isEmpty { try container.encode(indexedTexts, forKey: .indexedTexts) }
            if !heirs.isEmpty { try container.encode(heirs, forKey: .heirs) }
        }

        // MARK: Comparing

        /// Compares the two entities' own declarations, and the names of their superentities.
        ///
        /// - Complexity: O(n log n) for n declared properties.
        public static func == (left: Entity, right: Entity) -> Bool {
            left === right
                || (left.name == right.name && left.originalName == right.originalName
                    && left.superentityName == right.superentityName
                    && left.uniquenessConstraints == right.uniquenessConstraints && left.indices == right.indices
                    && left.indexedTexts == right.indexedTexts && left.heirs == right.heirs
                    && left.storedProperties.count == right.storedProperties.count
                    && zip(left.storedProperties, right.storedProperties).allSatisfy(isEqual))
        }

        /// Hashes the name, which is unique within a schema.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
        }

        static func isEqual(_ left: any SchemaProperty, _ right: any SchemaProperty) -> Bool {
            func compare<P: SchemaProperty>(_ left: P) -> Bool { (right as? P) == left }
            return compare(left)
        }

        /// The name and the declared properties.
        public var debugDescription: String {
            let parent = superentityName.map { ": \($0)" } ?? ""
            return "\(name)\(parent) \(storedProperties.map { "\($0)" })"
        }
    }
}
