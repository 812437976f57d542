/// The kinds of objects in a store, and the references between them.
///
/// Treat a schema as a value: build it, then share it. It can be written as JSON and read back without the model
/// classes; kinds, names and default values of scalars are preserved.
public final class Schema: Codable, Hashable, CustomDebugStringConvertible, Sendable {
    /// The version of the written form.
    ///
    /// A reader refuses a greater major number.
    public static let schemaEncodingVersion = Version(1, 0, 0)

    /// The version of the written form that this schema was read from, or will be written in.
    public let encodingVersion: Version
    /// The version that the app gave to the schema.
    public let version: Version
    /// All entities, with subentities, in order of declaration.
    public let entities: [Entity]
    /// The entities by name.
    ///
    /// Of several entities with the same name, it has the first.
    public let entitiesByName: [String: Entity]
    /// The rule that the classes break of which the schema was to be made: then it has no entities.
    package let defect: SchemaError?
    /// The names of the entities of each configuration, for models that divide theirs over stores.
    ///
    /// No part of the written form, of a comparison or of the fingerprint.
    // Safe because a schema's parts are changed only while it is being built, before another thread sees them.
    nonisolated(unsafe) package var entityNamesByConfiguration: [String: [String]] = [:]

    /// Makes an empty schema.
    public convenience init() {
        self.init(entities: [])
    }

    /// Makes a schema of entities and their subentities.
    ///
    /// - Complexity: O(n log n) for n entities.
    public convenience init(_ entities: Entity..., version: Version = Version(1, 0, 0)) {
        self.init(entities: entities, version: version)
    }

    /// Makes a schema of a list of entities and their subentities.
    ///
    /// - Complexity: O(n log n) for n entities.
    public convenience init(entities: [Entity], version: Version = Version(1, 0, 0)) {
        self.init(entities: entities, version: version, defect: nil)
    }

    /// The same, with the rule that the classes break of which it was to be made.
    package init(entities: [Entity], version: Version, defect: SchemaError?) {
        self.defect = defect
        self.encodingVersion = Schema.schemaEncodingVersion
        self.version = version
        self.entities = Schema.withSubentities(entities)
        self.entitiesByName = Dictionary(self.entities.map { ($0.name, $0) }) { first, _ in first }
    }

    /// Returns every entity once.
    ///
    /// After each entity follow its subentities that are not in the list themselves.
    private static func withSubentities(_ entities: [Entity]) -> [Entity] {
        var listed = Set(entities.map(ObjectIdentifier.init))
        var all: [Entity] = []
        func add(_ entity: Entity) {
            all.append(entity)
            for subentity in entity.subentities.sorted(by: { $0.name < $1.name })
            where listed.insert(ObjectIdentifier(subentity)).inserted {
                add(subentity)
            }
        }
        entities.forEach(add)
        return all
    }

    // MARK: Coding

    private enum CodingKeys: String, CodingKey {
        case encodingVersion, version, entities
    }

    /// Reads a schema and connects its entities with their subentities.
    public convenience init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let encodingVersion = try container.decode(Version.self, forKey: .encodingVersion)
        guard encodingVersion.major <= Schema.schemaEncodingVersion.major else {
            throw DecodingError.dataCorruptedError(
                forKey: .encodingVersion, in: container,
                debugDescription: """
                    The schema was written in form \(encodingVersion); this library reads up to \
                    \(Schema.schemaEncodingVersion).
                    """)
        }
        self.init(
            written: try container.decode(Version.self, forKey: .version), encodingVersion: encodingVersion,
            entities: try container.decode([Entity].self, forKey: .entities))
    }

    /// Makes a schema from its written form: connects its entities with their subentities.
    package init(written version: Version, encodingVersion: Version, entities: [Entity]) {
        self.version = version
        self.encodingVersion = encodingVersion
        defect = nil
        self.entities = entities
        entitiesByName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }

        let heirs = entities.filter { $0.superentityName != nil }
        guard !heirs.isEmpty else { return }
        let children = Dictionary(grouping: heirs) { $0.superentityName }
        for entity in entities {
            if let subentities = children[entity.name] { entity.subentities = Set(subentities) }
        }
    }

    /// The same schema under another version.
    package func numbered(_ version: Version) -> Schema {
        Schema(entities: entities, version: version)
    }

    /// Writes the schema.
    ///
    /// With sorted keys, equal schemas give equal text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Schema.schemaEncodingVersion, forKey: .encodingVersion)
        try container.encode(version, forKey: .version)
        try container.encode(entities, forKey: .entities)
    }

    // MARK: Comparing

    /// Compares the versions and the entities, in any order.
    ///
    /// - Complexity: O(n log n) for n properties of all entities.
    public static func == (left: Schema, right: Schema) -> Bool {
        left === right
            || (left.version == right.version && left.entities.count == right.entities.count
                && left.entitiesByName == right.entitiesByName)
    }

    /// Hashes the version and the entities' names.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(Set(entities.map(\.name)))
    }

    /// The version and all entities, each on its own line.
    public var debugDescription: String {
        (["Schema \(version)"] + entities.map(\.debugDescription)).joined(separator: "\n")
    }
}
