package import FaultlineLog
package import FaultlineModel

/// The schemas that a store has been through, oldest first, the one in force last (`docs/FileFormat.md` section 7).
///
/// It tells a schema that the store has left behind from one that is new to it. A store that goes back to a schema has
/// that one in force again, and forgets those that came behind it: they are no longer left behind.
///
/// A release that does not know the list may have changed the schema since; `enter` puts that right.
///
/// Invariants:
/// - no fingerprint is in it twice;
/// - it has at least one schema, and at most `countMax`.
package struct SchemaLineage: Codable, Sendable, Equatable {
    /// A schema of the list.
    package struct Member: Codable, Sendable, Equatable {
        /// Its identity.
        package let fingerprint: Fingerprint
        /// Its number, for messages.
        package let version: Schema.Version

        package init(_ schema: Schema) {
            fingerprint = schema.fingerprint
            version = schema.version
        }
    }

    /// Schemas that a store remembers; the oldest are forgotten.
    package static let countMax = 1_024

    package private(set) var schemas: [Member]

    /// The list of a store that begins one.
    package init(_ schema: Schema) { schemas = [Member(schema)] }

    /// Decodes a list: of one that breaks an invariant the longest end that keeps them, and so the newest schemas.
    ///
    /// - Throws: `DecodingError` for a list of nothing.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let stored = try container.decode([Member].self, forKey: .schemas)
        var known: Set<Fingerprint> = []
        schemas = stored.suffix(Self.countMax).reversed().prefix { known.insert($0.fingerprint).inserted }.reversed()
        guard !schemas.isEmpty else {
            throw DecodingError.dataCorruptedError(
                forKey: .schemas, in: container, debugDescription: "the list of schemas is empty")
        }
    }

    /// Whether the store was under a schema once, and no longer is.
    package func hasLeft(_ schema: Schema) -> Bool {
        let fingerprint = schema.fingerprint
        return schemas.dropLast().contains { $0.fingerprint == fingerprint }
    }

    /// Puts a schema in force.
    package mutating func enter(_ schema: Schema) {
        let member = Member(schema)
        if let place = schemas.firstIndex(where: { $0.fingerprint == member.fingerprint }) {
            schemas.removeSubrange(place...)
        }
        schemas.append(member)
        if schemas.count > Self.countMax { schemas.removeFirst(schemas.count - Self.countMax) }
    }
}

extension SchemaLineage {
    /// The list of a store, brought up to the schema in force, and whether the store has it so.
    package static func read(
        _ snapshot: Snapshot, under schema: Schema
    ) throws(StoreError) -> (lineage: SchemaLineage, isStored: Bool) {
        let number = StoredCatalog.RecordNumber.lineage
        guard let stored = try StoredCatalog.entry(SchemaLineage.self, number, in: snapshot) else {
            return (SchemaLineage(schema), false)
        }
        var lineage = stored
        lineage.enter(schema)
        return (lineage, lineage == stored)
    }

    /// Writes a store's list where it lacks one, or where the one it has does not end with the schema in force.
    ///
    /// The transaction does not count as a save that followed a migration.
    package static func settle(_ log: Log, under schema: Schema) throws {
        let (lineage, isStored) = try read(log.snapshot(), under: schema)
        if isStored { return }
        _ = try log.write(author: nil) { transaction in
            try StoredCatalog.put(lineage, StoredCatalog.RecordNumber.lineage, in: &transaction)
            try SwitchRecord.countOwn(in: &transaction)
        }
    }

    /// Notes in a transaction that a store goes from a schema through others; the last is in force then.
    package static func note(
        _ schemas: [Schema], after schema: Schema, in transaction: inout Transaction
    ) throws(StoreError) {
        let number = StoredCatalog.RecordNumber.lineage
        var lineage = try StoredCatalog.entry(SchemaLineage.self, number, in: transaction) ?? SchemaLineage(schema)
        for schema in [schema] + schemas { lineage.enter(schema) }
        try StoredCatalog.put(lineage, number, in: &transaction)
    }
}
