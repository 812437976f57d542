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
    ///
    /// One of both names of the policy may lack the module before it.
    func functions(of policyName: String?) -> PolicyFunctions {
        var own = PolicyFunctions()
        // The keys with the policy, by the names of functions.
        var qualified: [String: [(policy: String, key: String)]] = [:]
        for (key, function) in functions {
            let name = Self.withoutModule(key)
            guard name.count < key.count else {
                own.byName[name] = function
                continue
            }
            let policy = String(key.dropLast(name.count + 1))
            guard let policyName, Self.withoutModule(policy) == Self.withoutModule(policyName),
                policy == policyName || !policy.contains(".") || !policyName.contains(".")
            else { continue }
            qualified[name, default: []].append((policy, key))
        }
        for (name, found) in qualified {
            let exact = found.filter { $0.policy == policyName }
            let chosen = exact.isEmpty ? found : exact
            if chosen.count > 1 { own.ambiguous[name] = chosen.map(\.key).sorted() }
            own.byName[name] = chosen.first.flatMap { functions[$0.key] }
        }
        return own
    }

    private static func withoutModule(_ name: String) -> String {
        name.split(separator: ".").last.map(String.init) ?? name
    }
}
