/// The parts of a mapping model, as a reader found them.
struct MappingContent {
    var sourceModelPath: String?
    var destinationModelPath: String?
    var mappings: [MappingModelFile.Mapping] = []
    var findings: [ModelFinding] = []
}
