public import FaultlineMigration

/// A mapping model of Core Data, as its file has it.
///
///     let file = try MappingModelFile(contentsOf: URL(filePath: "Company1to2.xcmappingmodel"))
///     let mapping = try file.mappingModel(
///         from: old.schema, to: new.schema, policies: ["SplitPhotoPolicy": SplitPhotoPolicy.self])
///
/// It reads `.xcmappingmodel`, which Xcode edits, and `.cdm`, which it compiles for apps. It keeps everything that the
/// file says; `mappingModel(from:to:policies:functions:leavingOutUnexpressed:)` makes the mappings that a store is
/// migrated by.
public struct MappingModelFile: Sendable {
    /// The name of the file, without its extension.
    public let name: String
    /// The path of the file.
    public let path: String
    /// The path of the model before, as the file has it; nil for compiled files.
    public let sourceModelPath: String?
    /// The path of the model after, as the file has it; nil for compiled files.
    public let destinationModelPath: String?
    /// The entity mappings, in the order in which they are executed.
    public let mappings: [Mapping]
    /// Everything in the file that is not known, or that contradicts itself.
    public let findings: [ModelFinding]

    /// Code that an expression calls by `FUNCTION($entityPolicy, "name:", …)`.
    ///
    /// It gets the values of the arguments, and the manager of the migration. It returns the value of the property, or
    /// for a relationship an object or an array of objects.
    public typealias Function = @Sendable (_ arguments: [Any?], _ manager: MigrationManager) throws -> Any?
}
