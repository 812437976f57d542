public import FaultlineModel
public import Foundation

extension Schema {
    /// Writes the schema to a file as JSON, in one step: a reader sees the old file or the new one.
    public func save(to url: URL) throws {
        try Data(encoded()).write(to: url, options: .atomic)
    }

    /// Reads a schema from a file that `save(to:)` wrote.
    public static func load(from url: URL) throws -> Schema {
        try Schema(encoded: [UInt8](Data(contentsOf: url)))
    }
}
