internal import FaultlineMigration
internal import FaultlineModel
internal import FaultlineObjects

extension MappingLowering {
    /// The attributes of a mapping.
    ///
    /// Those that the file does not list keep their defaults, as in Core Data.
    mutating func attributes(_ lowering: PropertyLowering) -> [PropertyMapping] {
        var attributes: [PropertyMapping] = []
        var listed: Set<String> = []
        for property in lowering.mapping.attributes {
            guard let attribute = lowering.new.attribute(named: property.name) else {
                note(
                    MappingProblem(
                        .unknownName, property.name, NearestName.unknown(property.name, among: lowering.new)),
                    at: lowering.place(property), property.line)
                continue
            }
            guard listed.insert(property.name).inserted else {
                note(
                    MappingProblem(.unexpressed, property.name, "The mapping has two values for the attribute."),
                    at: lowering.place(property), property.line)
                continue
            }
            attributes.append(PropertyMapping(property.name, value(property, attribute, lowering)))
        }
        for case let attribute as Schema.Attribute in lowering.new.properties
        where !listed.contains(attribute.name) && !attribute.isTransient {
            attributes.append(PropertyMapping(attribute.name, nil))
        }
        return attributes
    }

    private mutating func value(
        _ property: MappingModelFile.Property, _ attribute: Schema.Attribute, _ lowering: PropertyLowering
    ) -> ValueExpression? {
        guard let expression = property.expression else {
            // The editor takes the old attribute with the same name, if there is one.
            guard property.isGenerated, lowering.old.attribute(named: property.name) != nil else { return nil }
            return .source(property.name)
        }
        if case .constant(let value) = expression {
            guard let value else {
                if attribute.isOptional { return .constant(nil) }
                note(
                    MappingProblem(.unexpressed, "\(expression)", "The attribute is required, and takes no nil."),
                    at: lowering.place(property), property.line, isOptional: true)
                return nil
            }
            if let constant = attribute.kind.constant(value) { return .constant(constant) }
            note(
                MappingProblem(.unexpressed, "\(expression)", "It is no value of the type \(attribute.kind)."),
                at: lowering.place(property), property.line, isOptional: true)
            return nil
        }
        guard let checked = checked(expression, property, lowering) else { return nil }
        if case .keyPath(.variable("source")?, let path) = expression, !JoinedPath(path).isJoined,
            AttributePath(path, of: lowering.old, in: source).methods.isEmpty
        {
            return .source(path)
        }
        let evaluator = ExpressionEvaluator(
            mapping: lowering.mapping, functions: lowering.functions.byName, entities: [], schema: source)
        return .computed(as: "\(checked)") { source, manager in
            let value = try evaluator.value(checked, source, manager)
            return CoreDataValue.written(attribute.kind.fitting(value), to: attribute)
        }
    }

    /// The expression, if it can be computed; else its problems are noted.
    mutating func checked(
        _ expression: MappingExpression, _ property: MappingModelFile.Property, _ lowering: PropertyLowering
    ) -> MappingExpression? {
        var check = ExpressionCheck(lowering.mapping, lowering.old, in: source, lowering.functions)
        check.check(expression)
        for problem in check.problems {
            note(
                problem, at: lowering.place(property), property.line, isOptional: problem.code == .unexpressed)
        }
        return check.problems.isEmpty ? expression : nil
    }
}
