package import FaultlineLog
package import FaultlineModel

/// The schemas that a store has had, oldest first, the one in force last (`docs/FileFormat.md` section 7).
///
/// It distinguishes a schema that the store has left from a new one. A store that returns to a schema has that one in
/// force again, and removes the later ones: they no longer count as left.
///
/// A release that does not know the list may have changed the schema since; `enter` corrects that.
///
/// Invariants:
/// - each fingerprint occurs once;
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

    /// The number of schemas that a store remembers; the oldest are removed.
    package static let countMax = 1_024

    package private(set) var schemas: [Member]

    /// A new list that begins with a schema.
    package init(_ schema: Schema) { schemas = [Member(schema)] }

    /// A list whose invariants are not checked.
    package init(unchecked schemas: [Member]) { self.schemas = schemas }

    /// Decodes a list; of one that breaks an invariant, the longest end that keeps them, and so the newest schemas.
    ///
    /// - Throws: `DecodingError` for an empty list.
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

    /// Whether the store had a schema once, and no longer has it.
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
    /// The list of a store, updated to the schema in force, and whether the store has it in this form.
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

    /// Writes a store's list if it lacks one, or if its list does not end with the schema in force.
    ///
    /// The transaction does not count as a save after a migration.
    package static func settle(_ log: Log, under schema: Schema) throws {
        let (lineage, isStored) = try read(log.snapshot(), under: schema)
        if isStored { return }
        _ = try log.write(author: nil) { transaction in
            try StoredCatalog.put(lineage, StoredCatalog.RecordNumber.lineage, in: &transaction)
            try SwitchRecord.countOwn(in: &transaction)
        }
    }

    /// Records in a transaction that a store changes from a schema through others; the last is then in force.
    package static func note(
        _ schemas: [Schema], after schema: Schema, in transaction: inout Transaction
    ) throws(StoreError) {
        let number = StoredCatalog.RecordNumber.lineage
        var lineage = try StoredCatalog.entry(SchemaLineage.self, number, in: transaction) ?? SchemaLineage(schema)
        for schema in [schema] + schemas { lineage.enter(schema) }
        try StoredCatalog.put(lineage, number, in: &transaction)
    }
}
