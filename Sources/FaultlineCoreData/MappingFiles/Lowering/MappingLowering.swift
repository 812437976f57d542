internal import FaultlineMigration
internal import FaultlineModel
internal import FaultlineObjects

/// Turns the mappings of a file into those that a store is migrated by.
struct MappingLowering {
    let file: MappingModelFile
    let source: Schema
    let destination: Schema
    /// The old names of entities and properties by the new ones.
    let difference: SchemaDifference
    /// The mappings and entities by their names.
    let index: MappingIndex
    private let code: MappingCode
    /// The problems, and those that only leave a property at its default.
    private(set) var problems: [(problem: MappingProblem, place: String, line: Int?, isOptional: Bool)] = []

    init(_ file: MappingModelFile, from source: Schema, to destination: Schema, _ code: MappingCode) {
        self.file = file
        self.source = source
        self.destination = destination
        self.code = code
        difference = destination.difference(from: source)
        index = MappingIndex(file.mappings, from: source, to: destination)
    }

    mutating func model() -> MappingModel {
        var mappings: [EntityMapping] = []
        for mapping in file.mappings { mappings.append(self.mapping(mapping)) }
        return MappingModel(entityMappings: mappings)
    }

    mutating func note(_ problem: MappingProblem, at place: String, _ line: Int?, isOptional: Bool = false) {
        problems.append((problem, place, line, isOptional))
    }

    // MARK: Mappings

    private mutating func mapping(_ mapping: MappingModelFile.Mapping) -> EntityMapping {
        let old = entity(mapping.sourceEntityName, in: source, mapping)
        let new = entity(mapping.destinationEntityName, in: destination, mapping)
        var lowered = EntityMapping(
            from: mapping.sourceEntityName, to: mapping.destinationEntityName, name: mapping.name,
            policy: policy(mapping), userInfo: mapping.userInfo)
        if let fetch = mapping.sourceExpression {
            note(
                MappingProblem(.unexpressed, "\(fetch)", "Old objects are selected by a condition only."),
                at: mapping.name, mapping.line)
        }
        guard let old else { return lowered }
        if let predicate = mapping.filter {
            var filters = FilterLowering(old, in: source)
            lowered.sourceFilter = filters.filter(predicate)
            for problem in filters.problems { note(problem, at: mapping.name, mapping.line) }
        }
        guard let new else { return lowered }
        let properties = PropertyLowering(mapping, old, new, code.functions(of: mapping.policyName))
        lowered.attributeMappings = attributes(properties)
        lowered.relationshipMappings = relationships(properties)
        if lowered.entityMigrationPolicy == nil { lowered.mappingType = mapping.kind == .copy ? .copy : .transform }
        return lowered
    }

    private mutating func entity(
        _ name: String?, in schema: Schema, _ mapping: MappingModelFile.Mapping
    ) -> Schema.Entity? {
        guard let name else { return nil }
        if let entity = schema.entitiesByName[name] { return entity }
        let names = schema.entities.map(\.name)
        let hint = NearestName.nearest(to: name, among: names).map { " Did you mean \"\($0)\"?" } ?? ""
        let version = schema === source ? "old" : "new"
        note(
            MappingProblem(.unknownName, name, "The \(version) model has no such entity.\(hint)"),
            at: mapping.name, mapping.line)
        return nil
    }

    private mutating func policy(_ mapping: MappingModelFile.Mapping) -> EntityMigrationPolicy.Type? {
        guard let name = mapping.policyName, name != MappingCode.standardPolicy else { return nil }
        do { return try code.policy(named: name) } catch {
            note(error.problem, at: mapping.name, mapping.line)
            return nil
        }
    }
}

/// The entities and functions that the properties of a mapping are lowered with.
struct PropertyLowering {
    let mapping: MappingModelFile.Mapping
    let old: Schema.Entity
    let new: Schema.Entity
    let functions: PolicyFunctions

    init(
        _ mapping: MappingModelFile.Mapping, _ old: Schema.Entity, _ new: Schema.Entity, _ functions: PolicyFunctions
    ) {
        self.mapping = mapping
        self.old = old
        self.new = new
        self.functions = functions
    }

    func place(_ property: MappingModelFile.Property) -> String { "\(mapping.name).\(property.name)" }
}

extension Schema.Entity {
    /// The attribute with a name, own or inherited.
    func attribute(named name: String) -> Schema.Attribute? {
        properties.first { $0.name == name }?.asAttribute
    }
}
