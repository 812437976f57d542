public import FaultlineModel
public import Foundation

/// One version of a model, as a file of Core Data has it.
///
///     let package = try ModelPackage(contentsOf: URL(filePath: "Library.xcdatamodeld"))
///     for entity in package.current.entities { print(entity.name, entity.attributes.map(\.name)) }
///
/// It keeps everything that the file says. `schema` is the part that a store of Faultline needs, and `findings` lists
/// the rest.
public struct ModelVersion: Sendable {
    /// The name of the version: that of its file, without the extension.
    public let name: String
    /// The path of the file.
    public let path: String
    /// The identifiers that the author gave to the version.
    public let identifiers: [String]
    /// The entities, in the order of the file.
    public let entities: [Entity]
    /// The sets of entities for single stores.
    public let configurations: [Configuration]
    /// The stored fetch requests.
    public let fetchRequests: [FetchRequest]
    /// The schema that is made of the entities.
    public let schema: Schema
    /// Everything that the schema does not have, and everything unknown: by lines, those without a line first.
    public let findings: [ModelFinding]
    /// The hashes that Core Data gave to the entities, by their names; none unless the version is part of a `.momd`.
    public internal(set) var entityHashes: [String: Data] = [:]

    /// The largest file that is read, in bytes.
    public static let byteCountMax = 16 << 20
}
