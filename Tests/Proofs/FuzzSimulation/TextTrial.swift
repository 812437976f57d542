import FaultlineMigration
import FaultlineModel
import FaultlineStore

/// Reads bytes as a text in a user's file: a mapping file, a schema as JSON, a schema lock.
///
/// A wrong one is refused by the error of its kind.
enum TextTrial {
    static func seeds(_ target: FuzzTarget) throws -> [[UInt8]] {
        let schema = FuzzObjects.schema
        switch target {
        case .mapping: return [Array(mapping.utf8), Array(#"{"mappings": []}"#.utf8)]
        case .schema: return [try schema.encoded(), try CatalogTrial.sample.encoded()]
        default:
            let dropped = DroppedVersion(
                Schema.Version(0, 9, 0), fingerprint: String(repeating: "7", count: 32),
                lastRelease: "the spring release")
            return [
                Array(try SchemaLock([schema]).text.utf8),
                Array(try SchemaLock([CatalogTrial.sample], dropped: [dropped]).text.utf8),
            ]
        }
    }

    static func run(_ bytes: [UInt8], as target: FuzzTarget) throws {
        switch target {
        case .mapping:
            do throws(MappingFileError) {
                let text = String(decoding: bytes, as: UTF8.self)
                _ = try MappingFile.model(text, from: FuzzObjects.schema, to: FuzzObjects.schema)
            } catch {
                guard error.description.utf8.count < bytes.count * 4 + 4_096 else {
                    throw FuzzViolation(description: "an error of \(error.description.utf8.count) bytes")
                }
            }
        case .schema: try readSchema(bytes)
        default: try readLock(String(decoding: bytes, as: UTF8.self))
        }
    }

    private static func readSchema(_ bytes: [UInt8]) throws {
        let schema: Schema
        do throws(SchemaError) {
            schema = try Schema(encoded: bytes)
            try schema.validate()
        } catch { return }
        let encoded = try schema.encoded()
        guard try Schema(encoded: encoded).encoded() == encoded else {
            throw FuzzViolation(description: "a schema is another when read again")
        }
        try CatalogTrial.resolve(schema)
    }

    private static func readLock(_ text: String) throws {
        let lock: SchemaLock
        do throws(SchemaLockError) { lock = try SchemaLock(text: text) } catch { return }
        guard try SchemaLock(text: lock.text) == lock else {
            throw FuzzViolation(description: "a lock is another when read again")
        }
    }

    private static let mapping = """
        {"mappings": [
            {"from": "Thing", "to": "Thing", "name": "things",
             "where": {"all": [{"not": {"key": "name", "equals": "n1"}}, {"any": [{"key": "rank", "greater": 3},
                 {"key": "name", "isIn": ["n1", "n2"]}]}, {"key": "name", "beginsWith": "n"}]},
             "attributes": {
                 "name": {"join": ["name", "rank"], "separator": "/"},
                 "rank": {"split": "name", "separator": "-", "part": -1},
                 "weight": {"constant": "1.5"}}},
            {"from": "Other", "to": "Other", "attributes": {"text": {"source": "text"}}, "relationships": {}},
            {"to": "Other", "attributes": {"text": {"number": "text"}}},
            {"from": "Other"}]}
        """
}
