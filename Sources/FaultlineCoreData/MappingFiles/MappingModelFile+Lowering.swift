public import FaultlineMigration
public import FaultlineModel

extension MappingModelFile {
    /// Makes the mappings that a store is migrated by.
    ///
    ///     var configuration = ModelConfiguration(url: url)
    ///     configuration.options.migration.mapping = try file.mappingModel(
    ///         from: old.schema, to: new.schema, policies: ["App.SplitPhotoPolicy": SplitPhotoPolicy.self])
    ///
    /// A class cannot be found by its name: each policy that the file names is passed, and so is each function that an
    /// expression calls on `$entityPolicy`.
    ///
    /// - Parameters:
    ///   - source: The model of the stored objects.
    ///   - destination: The model after the migration.
    ///   - policies: The classes of policies by the names in the file, with or without the module: `App.` may be left off
    ///     here, or in the file.
    ///   - functions: The functions of policies by the names in expressions, such as `convert:`, or with the policy, such
    ///     as `SplitPolicy.convert:`, which goes first; there, too, the module may be left off.
    ///   - leavesOut: Whether a property whose expression has no equivalent keeps its default; else it is an error.
    ///     Conditions, names, policies and functions are errors in any case.
    /// - Returns: The mappings, in the order of the file.
    /// - Throws: `MappingModelError`, with all places that stand in the way.
    /// - Complexity: O(n · p) for n parts of expressions, and p properties of an entity.
    public func mappingModel(
        from source: Schema, to destination: Schema, policies: [String: EntityMigrationPolicy.Type] = [:],
        functions: [String: Function] = [:], leavingOutUnexpressed leavesOut: Bool = false
    ) throws(MappingModelError) -> MappingModel {
        var lowering = MappingLowering(
            self, from: source, to: destination, MappingCode(policies: policies, functions: functions))
        let model = lowering.model()
        let problems = lowering.problems.filter { !leavesOut || !$0.isOptional }
        guard let first = problems.first else { return model }
        throw MappingModelError(
            first.problem.code, path, problems.map { $0.problem.finding(at: $0.place, line: $0.line) })
    }

    /// The parts that have no equivalent between two models, code aside: `mappingModel` refuses them.
    ///
    ///     for finding in file.unexpressed(from: old.schema, to: new.schema) { print(finding) }
    ///
    /// - Complexity: As `mappingModel(from:to:policies:functions:leavingOutUnexpressed:)`.
    public func unexpressed(from source: Schema, to destination: Schema) -> [ModelFinding] {
        var lowering = MappingLowering(
            self, from: source, to: destination, MappingCode(policies: [:], functions: [:]))
        _ = lowering.model()
        return lowering.problems.filter { ![.unknownPolicy, .unknownFunction].contains($0.problem.code) }.map {
            $0.problem.finding(at: $0.place, line: $0.line)
        }
    }

    /// The policies that the mappings name, each once.
    ///
    /// - Complexity: O(m) for m mappings.
    public var policyNames: [String] {
        var seen: Set<String> = [MappingCode.standardPolicy]
        return mappings.compactMap(\.policyName).filter { seen.insert($0).inserted }
    }
}
