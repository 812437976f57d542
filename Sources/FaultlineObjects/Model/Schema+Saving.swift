public import FaultlineModel
public import Foundation

extension Schema {
    /// Writes the schema to a file as JSON, in one step: a reader sees the old file or the new one.
    ///
    /// - Throws: `SchemaError` with the code `unwritable`; the error of the file system.
    /// - Complexity: O(n log n) for n properties of all entities.
    public func save(to url: URL) throws {
        try Data(encoded()).write(to: url, options: .atomic)
    }

    /// Reads a schema from a file that `save(to:)` wrote.
    ///
    /// - Throws: `SchemaError` with the code `unreadable`; the error of the file system.
    /// - Complexity: O(n) for n bytes.
    public static func load(from url: URL) throws -> Schema {
        try Schema(encoded: [UInt8](Data(contentsOf: url)))
    }
}
