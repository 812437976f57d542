public import FaultlineMigration
public import FaultlineModel

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
}
