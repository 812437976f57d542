package import FaultlineDisk

extension SchemaLineage {
    /// The list as a store has it, even if it breaks the invariants.
    struct Stored: Decodable {
        private let schemas: [Member]

        var lineage: SchemaLineage { SchemaLineage(unchecked: schemas) }
    }

    /// Checks the invariants that the type's comment lists.
    package func checkInvariants() throws(BrokenInvariant) {
        guard Set(schemas.map(\.fingerprint)).count == schemas.count else {
            throw BrokenInvariant("SchemaLineage", "each fingerprint occurs once", "\(schemas.map(\.version))")
        }
        guard (1...Self.countMax).contains(schemas.count) else {
            throw BrokenInvariant(
                "SchemaLineage", "it has at least one schema, and at most `countMax`", "it has \(schemas.count)")
        }
    }
}
