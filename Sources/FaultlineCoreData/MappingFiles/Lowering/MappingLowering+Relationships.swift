internal import FaultlineMigration
internal import FaultlineModel
internal import FaultlineObjects

extension MappingLowering {
    /// The relationships of a mapping.
    ///
    /// Those that the file does not list are not set, as in Core Data, except from the other side.
    mutating func relationships(_ lowering: PropertyLowering) -> [PropertyMapping] {
        var relationships: [PropertyMapping] = []
        var listed: Set<String> = []
        for property in lowering.mapping.relationships {
            guard let relationship = lowering.new.relationship(named: property.name) else {
                note(
                    MappingProblem(
                        .unknownName, property.name, NearestName.unknown(property.name, among: lowering.new)),
                    at: lowering.place(property), property.line)
                continue
            }
            listed.insert(property.name)
            if property.isGenerated {
                if let mapping = generated(property, relationship, lowering) { relationships.append(mapping) }
                continue
            }
            let value = property.expression.flatMap { members($0, property, relationship, lowering) }
            relationships.append(PropertyMapping(property.name, value))
        }
        for relationship in lowering.new.properties.compactMap(\.asRelationship)
        where !listed.contains(relationship.name) {
            relationships.append(PropertyMapping(relationship.name, nil))
        }
        return relationships
    }

    /// The relationship that the file leaves open: the new objects of the objects in the old one with the same name.
    ///
    /// - Returns: Nil if that is the default of a mapping.
    private mutating func generated(
        _ property: MappingModelFile.Property, _ relationship: Schema.Relationship, _ lowering: PropertyLowering
    ) -> PropertyMapping? {
        guard let old = lowering.old.relationship(named: property.name) else {
            return PropertyMapping(property.name, nil)
        }
        if !hasSubentities(old) {
            let isSameEntity = difference.oldEntityNames[lowering.new.name] == lowering.old.name
            if isSameEntity, difference.oldPropertyNames[lowering.new.name]?[property.name] == property.name {
                return nil
            }
        }
        let members = MappingExpression.keyPath(.variable("source"), property.name)
        return PropertyMapping(
            property.name, byRelationship(property.name, members, property, relationship, lowering))
    }

    private func hasSubentities(_ relationship: Schema.Relationship) -> Bool {
        index.oldSuperentities.contains(relationship.destination)
    }

    // MARK: Expressions

    private mutating func members(
        _ expression: MappingExpression, _ property: MappingModelFile.Property, _ relationship: Schema.Relationship,
        _ lowering: PropertyLowering
    ) -> ValueExpression? {
        if expression == .constant(nil) { return nil }
        guard let checked = checked(expression, property, lowering) else { return nil }
        guard case .function(.variable("manager"), let name, let arguments) = checked,
            let mapping = arguments.first?.constantText
        else {
            if case .function(.variable("entityPolicy"), _, _) = checked {
                return computed(checked, relationship, lowering)
            }
            note(
                MappingProblem(
                    .unexpressed, "\(expression)", "It gives no new objects, and \(property.name) is a relationship."),
                at: lowering.place(property), property.line, isOptional: true)
            return nil
        }
        switch name {
        case CounterpartCall.byMapping:
            return byMapping(mapping, arguments[1], checked, relationship, lowering)
        case CounterpartCall.byRelationship:
            return byRelationship(mapping, arguments[1], property, relationship, lowering)
        default:
            note(
                MappingProblem(
                    .unexpressed, "\(expression)", "It gives old objects, and \(property.name) takes new ones."),
                at: lowering.place(property), property.line, isOptional: true)
            return nil
        }
    }

    /// The new objects of some old ones, by a mapping.
    private func byMapping(
        _ name: String, _ members: MappingExpression, _ expression: MappingExpression,
        _ relationship: Schema.Relationship, _ lowering: PropertyLowering
    ) -> ValueExpression {
        let mapping = index.mappings[name]
        // A mapping of another file of the stage is looked up with the stage.
        let makesMembers = mapping.map { $0.destinationEntityName == relationship.destination } ?? true
        if makesMembers, members == .variable("source"),
            mapping.map({ $0.sourceEntityName == lowering.old.name }) ?? true
        {
            return .counterparts(by: name)
        }
        if makesMembers, case .keyPath(.variable("source")?, let path) = members,
            let old = lowering.old.relationship(named: path),
            mapping.map({ $0.sourceEntityName == old.destination }) ?? true
        {
            return .destinations(of: path, by: name)
        }
        return computed(expression, relationship, lowering)
    }

    /// The new objects of some old ones, by all mappings that make objects for a relationship.
    private mutating func byRelationship(
        _ name: String, _ members: MappingExpression, _ property: MappingModelFile.Property,
        _ relationship: Schema.Relationship, _ lowering: PropertyLowering
    ) -> ValueExpression? {
        if case .keyPath(.variable("source")?, let path) = members,
            let old = lowering.old.relationship(named: path), !hasSubentities(old)
        {
            let isMade = index.madeOf[old.destination]?.contains(relationship.destination) == true
            let isKept =
                difference.oldEntityNames[relationship.destination] == old.destination
                && !index.made.contains(relationship.destination)
            if isMade || isKept { return .destinations(of: path) }
        }
        let call = MappingExpression.function(
            .variable("manager"), CounterpartCall.byRelationship, [.constant(.text(name)), members])
        return computed(call, relationship, lowering)
    }

    private func computed(
        _ expression: MappingExpression, _ relationship: Schema.Relationship, _ lowering: PropertyLowering
    ) -> ValueExpression {
        let evaluator = ExpressionEvaluator(
            mapping: lowering.mapping, functions: lowering.functions.byName,
            entities: index.newFamilies[relationship.destination] ?? [relationship.destination], schema: self.source)
        let isToOne = relationship.isToOneRelationship
        return .computed(as: "\(expression)") { source, manager in
            let objects = try ExpressionEvaluator.objects(try evaluator.value(expression, source, manager))
            guard isToOne else { return objects }
            guard objects.count < 2 else {
                throw ExpressionFailure(text: "\(expression) gives \(objects.count) objects for a to-one relationship.")
            }
            return objects.first as Any?
        }
    }
}
