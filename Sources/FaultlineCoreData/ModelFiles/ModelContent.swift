/// The parts of a model, as a reader found them.
struct ModelContent {
    var identifiers: [String] = []
    var entities: [ModelVersion.Entity] = []
    var configurations: [ModelVersion.Configuration] = []
    var fetchRequests: [ModelVersion.FetchRequest] = []
    var findings: [ModelFinding] = []
}
