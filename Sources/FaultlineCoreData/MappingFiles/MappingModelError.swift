/// The reason why a mapping model of a file cannot be used, with all places.
///
///     do { mapping = try file.mappingModel(from: old, to: new) } catch { print(error.findings) }
public struct MappingModelError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: String, Sendable, CaseIterable {
        /// An expression or a condition has no equivalent.
        case unexpressed
        /// The file names an entity, a property or a mapping that is not there.
        case unknownName
        /// The file names a policy that was not passed.
        case unknownPolicy
        /// An expression calls a function of the policy that was not passed.
        case unknownFunction
        /// Several files lead from one model to the other.
        case ambiguous
    }

    /// The kind of the first finding.
    public let code: Code
    /// The path of the file.
    public let path: String
    /// All places that stand in the way: mapping and property, the expression or the name, and the reason.
    public let findings: [ModelFinding]

    init(_ code: Code, _ path: String, _ findings: [ModelFinding]) {
        self.code = code
        self.path = path
        self.findings = findings
    }

    /// The file, and each place in a line.
    public var description: String {
        ([path + ":"] + findings.map { "    \($0)" }).joined(separator: "\n")
    }
}
