internal import FaultlineMigration
internal import FaultlineObjects

/// The policies and functions that a program passes for the names in mapping models.
struct MappingCode {
    /// The class that a mapping without a policy has in Core Data.
    static let standardPolicy = "NSEntityMigrationPolicy"

    let policies: [String: EntityMigrationPolicy.Type]
    let functions: [String: MappingModelFile.Function]

    /// The reason why a name finds no policy.
    struct Missing: Error {
        let problem: MappingProblem
    }

    /// The policy with a name; one of both names may lack the module before it.
    func policy(named name: String) throws(Missing) -> EntityMigrationPolicy.Type {
        if let policy = policies[name] { return policy }
        let last = Self.withoutModule(name)
        let found = policies.filter { key, _ in
            Self.withoutModule(key) == last && (!key.contains(".") || !name.contains("."))
        }
        if found.count == 1, let policy = found.first?.value { return policy }
        guard found.isEmpty else {
            let keys = found.keys.sorted().joined(separator: ", ")
            throw Missing(problem: MappingProblem(.unknownPolicy, name, "Several policies have the name: \(keys)."))
        }
        let near = NearestName.nearest(to: last, among: policies.keys.map(Self.withoutModule).sorted())
        let hint = near.map { " Did you mean \"\($0)\"?" } ?? " Pass its class in `policies`, by this name."
        throw Missing(problem: MappingProblem(.unknownPolicy, name, "The policy was not passed.\(hint)"))
    }

    /// The functions of a policy by their names alone; `SplitPolicy.convert:` goes before `convert:`.
    func functions(of policyName: String?) -> [String: MappingModelFile.Function] {
        var own = functions.filter { !$0.key.contains(".") }
        let last = policyName.map(Self.withoutModule) ?? ""
        for (key, function) in functions where key.hasPrefix(last + ".") {
            own[String(key.dropFirst(last.count + 1))] = function
        }
        return own
    }

    private static func withoutModule(_ name: String) -> String {
        name.split(separator: ".").last.map(String.init) ?? name
    }
}
