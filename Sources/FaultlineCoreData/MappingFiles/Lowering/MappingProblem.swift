/// A part of a mapping model that has no equivalent.
struct MappingProblem {
    let code: MappingModelError.Code
    /// The name or the expression.
    let name: String
    let reason: String

    init(_ code: MappingModelError.Code, _ name: String, _ reason: String) {
        self.code = code
        self.name = name
        self.reason = reason
    }

    /// The problem at a place, as a finding.
    func finding(at place: String, line: Int?) -> ModelFinding {
        let kind: ModelFinding.Kind = code == .unexpressed ? .unexpressed : code == .unknownName ? .invalid : .unknown
        return ModelFinding(kind, name, at: place, line: line, reason)
    }
}
