/// The form of each version of a plan at its release, so that an accidental change of a version is detected.
///
/// It contains the facts of fingerprints, which determine the identity of a store's schema: names, kinds, optionality,
/// destinations, inverses, counts, uniqueness. Defaults, delete rules, indexes and original names may change without a
/// new version, and are not included. Its text has one fact on each line, as `docs/Migrations.md` shows.
public struct SchemaLock: Hashable, Sendable {
    /// One version of a plan.
    public struct Version: Hashable, Sendable {
        /// The number that the app gave it.
        public let number: Schema.Version
        /// The fingerprint that distinguishes a store of this version from any other.
        public let fingerprint: Fingerprint
        /// Its entities, by name; empty for a version that the plan has dropped.
        public let entities: [Entity]
        /// The last release of the app that can migrate a store of this version; nil while the plan can.
        public let lastRelease: String?
    }

    /// One entity of a version.
    public struct Entity: Hashable, Sendable {
        /// The name, in quotes if it is not a plain word.
        public let name: String
        /// The fingerprint that distinguishes the entity's rows from any others.
        public let fingerprint: Fingerprint
        /// The facts of the fingerprint, in words: properties by name, then uniqueness constraints.
        public let facts: [String]
    }

    /// The versions, oldest first.
    public let versions: [Version]

    /// Describes the versions of a plan, and those that it has dropped.
    ///
    /// - Throws: `SchemaLockError`: `numberTwice` if two versions have the same number, `fingerprintTwice` if two of
    ///   them look the same, `malformed` if a name spans several lines, or a dropped version names no release.
    /// - Complexity: O(n log n) for n properties of all versions.
    public init(_ schemas: [Schema], dropped: [DroppedVersion] = []) throws(SchemaLockError) {
        try self.init(
            versions: dropped.map {
                Version(number: $0.number, fingerprint: $0.fingerprint, entities: [], lastRelease: $0.lastRelease)
            } + schemas.map(Version.init))
    }

    init(versions: [Version]) throws(SchemaLockError) {
        self.versions = versions
        let words = versions.flatMap(\.entities).flatMap { [$0.name] + $0.facts } + versions.compactMap(\.lastRelease)
        if let word = words.first(where: { $0.contains(where: \.isNewline) }) {
            throw SchemaLockError(.malformed, nil, "A name has a line break, and cannot be locked: \(quoted(word)).")
        }
        if let nameless = versions.first(where: { $0.lastRelease?.allSatisfy(\.isWhitespace) == true }) {
            throw SchemaLockError(
                .malformed, nameless.number,
                "Dropped version \(nameless.number) names no release, and users are to be told which one to run. Name the last release that can migrate it."
            )
        }
        try Self.checkDistinct(versions)
    }

    private static func checkDistinct(_ versions: [Version]) throws(SchemaLockError) {
        var numbers: Set<Schema.Version> = []
        var numbersByFingerprint: [Fingerprint: Schema.Version] = [:]
        for version in versions {
            guard numbers.insert(version.number).inserted else {
                throw SchemaLockError(
                    .numberTwice, version.number,
                    "Two versions have the number \(version.number). Give the newer one a number of its own.")
            }
            guard let other = numbersByFingerprint.updateValue(version.number, forKey: version.fingerprint) else {
                continue
            }
            throw SchemaLockError(
                .fingerprintTwice, version.number,
                """
                Versions \(other) and \(version.number) look the same, so their stores cannot be told \
                apart. Give a property of the newer one a hashModifier, or remove one of them.
                """)
        }
    }

    func version(_ number: Schema.Version) -> Version? { versions.first { $0.number == number } }
}

extension SchemaLock.Version {
    fileprivate init(_ schema: Schema) {
        let entities = schema.entities.sorted { precedes($0.name, $1.name) }.map(SchemaLock.Entity.init)
        self.init(number: schema.version, fingerprint: schema.fingerprint, entities: entities, lastRelease: nil)
    }
}

extension SchemaLock.Entity {
    fileprivate init(_ entity: Schema.Entity) {
        let properties = entity.properties.sorted { precedes($0.name, $1.name) }
        var facts = entity.superentityName.map { ["inherits \(lockWord($0))"] } ?? []
        for property in properties {
            if let attribute = property.asAttribute { facts += attribute.facts(prefix: "") }
            if let relationship = property.asRelationship { facts.append(relationship.fact) }
        }
        facts += entity.allUniquenessConstraints.map { "unique \($0.map(lockWord).joined(separator: ", "))" }
        self.init(name: lockWord(entity.name), fingerprint: entity.fingerprint, facts: facts)
    }
}

extension Schema.Attribute {
    fileprivate func facts(prefix: String) -> [String] {
        var fact = "\(prefix)\(lockWord(name)): \(kind)\(isOptional ? "?" : "")"
        if isTransient { fact += ", transient" }
        if let hashModifier { fact += ", modifier \(lockWord(hashModifier))" }
        let members = (self as? Schema.CompositeAttribute)?.properties.sorted { precedes($0.name, $1.name) } ?? []
        return [fact] + members.flatMap { $0.facts(prefix: "\(prefix)\(lockWord(name)).") }
    }
}

extension Schema.Relationship {
    fileprivate var fact: String {
        let type = isToOneRelationship ? lockWord(destination) : "[\(lockWord(destination))]"
        var fact = "\(lockWord(name)): \(type)\(isOptional ? "?" : "")"
        if let inverseName { fact += ", inverse \(lockWord(inverseName))" }
        if let minimumModelCount, minimumModelCount != 0 { fact += ", least \(minimumModelCount)" }
        if let maximumModelCount, maximumModelCount != 0 { fact += ", most \(maximumModelCount)" }
        if let hashModifier { fact += ", modifier \(lockWord(hashModifier))" }
        return fact
    }
}

/// Returns a plain word unchanged, anything else in quotes.
func lockWord(_ text: String) -> String {
    let isPlain =
        !text.isEmpty
        && text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), 0x80...0xFF:
                true
            default: false
            }
        }
    return isPlain && !text.contains(where: \.isNewline) ? text : quoted(text)
}
