public import FaultlineMigration
public import FaultlineModel
public import Foundation

extension MappingModel {
    /// Makes the mappings that need no code: `inferred(from:to:)`.
    ///
    ///     var model = try NSMappingModel.inferredMappingModel(
    ///         forSourceModel: old, destinationModel: new)
    ///
    /// - Throws: `MigrationError` of the code `notLightweight` for a change that needs a default or code, with entity,
    ///   property and the remedy.
    /// - Complexity: As `inferred(from:to:)`.
    public static func inferredMappingModel(
        forSourceModel source: Schema, destinationModel destination: Schema
    ) throws(MigrationError) -> MappingModel {
        try inferred(from: source, to: destination)
    }

    /// Reads the mappings of a file.
    ///
    ///     let mapping = try NSMappingModel(
    ///         contentsOf: URL(filePath: "Company1to2.cdm"), forSourceModel: old, destinationModel: new,
    ///         policies: ["SplitPhotoPolicy": SplitPhotoPolicy.self])
    ///
    /// - Parameters:
    ///   - url: An `.xcmappingmodel` or a `.cdm`.
    ///   - source: The model of the stored objects.
    ///   - destination: The model after the migration.
    ///   - policies: The classes of policies, by the names in the file.
    ///   - functions: The functions of policies, by the names in expressions.
    /// - Throws: `ModelFileError` for a file that cannot be read, `MappingModelError` for one without an equivalent.
    /// - Complexity: As `MappingModelFile.init(contentsOf:)`.
    public init(
        contentsOf url: URL, forSourceModel source: Schema, destinationModel destination: Schema,
        policies: [String: EntityMigrationPolicy.Type] = [:],
        functions: [String: MappingModelFile.Function] = [:]
    ) throws {
        self = try MappingModelFile(contentsOf: url).mappingModel(
            from: source, to: destination, policies: policies, functions: functions)
    }

    /// Finds the mapping model from one model to another, and reads its mappings; nil if there is none.
    ///
    ///     let mapping = try NSMappingModel(
    ///         from: [Bundle.main.bundleURL], forSourceModel: old, destinationModel: new)
    ///
    /// The file that fits is the one whose entities and properties the models have: `MappingModelFile.fits(from:to:)`.
    ///
    /// - Parameters:
    ///   - places: Mapping models, and folders with mapping models directly inside.
    ///   - source: The model of the stored objects.
    ///   - destination: The model after the migration.
    ///   - policies: The classes of policies, by the names in the file.
    ///   - functions: The functions of policies, by the names in expressions.
    /// - Throws: `ModelFileError` for a file that cannot be read; `MappingModelError` of the code `ambiguous` if several
    ///   fit, and others for one without an equivalent.
    /// - Complexity: As `MappingModelFile.all(in:)`.
    public init?(
        from places: [URL], forSourceModel source: Schema, destinationModel destination: Schema,
        policies: [String: EntityMigrationPolicy.Type] = [:],
        functions: [String: MappingModelFile.Function] = [:]
    ) throws {
        let files = try MappingModelFile.all(in: places).filter { $0.fits(from: source, to: destination) }
        guard let file = files.first else { return nil }
        guard files.count == 1 else {
            throw MappingModelError(
                .ambiguous, file.path,
                files.map { ModelFinding(.invalid, $0.name, at: "", "\($0.path) fits, too. Give the path of one.") })
        }
        self = try file.mappingModel(from: source, to: destination, policies: policies, functions: functions)
    }
}
