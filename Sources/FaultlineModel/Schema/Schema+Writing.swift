internal import FoundationEssentials

extension Schema {
    /// The schema as JSON text in UTF-8, with sorted keys: equal schemas give equal bytes.
    ///
    /// - Throws: `SchemaError` with the code `unwritable` for a default value that has no written form.
    /// - Complexity: O(n log n) for n properties of all entities.
    public func encoded() throws(SchemaError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return try [UInt8](encoder.encode(self))
        } catch {
            throw SchemaError(.unwritable, "The schema cannot be written: \(error).")
        }
    }

    /// Reads a schema that `encoded()` wrote.
    ///
    /// The model's classes need not be known. Throws `unreadable` for bytes that are not a schema, or that a newer
    /// library wrote. The schema is not validated.
    ///
    /// - Complexity: O(n) for n bytes.
    public convenience init(encoded bytes: [UInt8]) throws(SchemaError) {
        let decoded: Schema
        do {
            decoded = try JSONDecoder().decode(Schema.self, from: Data(bytes))
        } catch {
            throw SchemaError(.unreadable, "The bytes are not a schema that this library reads: \(error).")
        }
        self.init(entities: decoded.entities, version: decoded.version)
    }
}
