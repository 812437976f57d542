internal import FaultlineModel
internal import FaultlineObjects

/// The check of mapping models against the two versions of a stage.
struct MappingResolution {
    private let stage: String
    private let source: Schema
    private let target: Schema
    private let mappings: [EntityMapping]
    /// The old names of entities of the new version.
    private let oldNames: [String: String]
    /// The old names of properties, by the new names of entity and property.
    private let oldPropertyNames: [String: [String: String]]
    private let rewritten: Set<String>
    /// Whether code sees the objects, and may make some of any entity, and associate them.
    private let showsObjects: Bool

    init(_ models: [MappingModel], from source: Schema, to target: Schema, stage: String) {
        self.stage = stage
        self.source = source
        self.target = target
        mappings = models.flatMap(\.entityMappings)
        let difference = SchemaDifference(from: source, to: target)
        oldNames = difference.oldEntityNames
        oldPropertyNames = difference.oldPropertyNames
        rewritten = Set(mappings.compactMap(\.destinationEntityName))
        showsObjects = mappings.contains(where: \.showsObjects)
    }

    /// Resolves the names in the mappings to entities and properties.
    ///
    /// - Throws: `MigrationError.badPlan` with stage, mapping, entity and property.
    func resolved() throws(MigrationError) -> [ResolvedMapping] {
        var names: Set<String> = []
        var all: [ResolvedMapping] = []
        for (place, mapping) in mappings.enumerated() {
            guard names.insert(mapping.name).inserted else {
                throw bad(mapping, "stands there twice. Give one of them another name")
            }
            all.append(try resolve(mapping, place))
        }
        try checkForerunners()
        return all
    }

    /// Checks that no objects are lost because a mapping makes other objects for their entity.
    private func checkForerunners() throws(MigrationError) {
        for mapping in mappings {
            guard let name = mapping.destinationEntityName, let old = oldNames[name],
                !mappings.contains(where: { $0.sourceEntityName == old })
            else { continue }
            throw bad(
                mapping,
                "makes all objects of \(name) anew, and no mapping reads the \(old) that there are. Add one, or one from \(old) to nil, which removes them"
            )
        }
    }

    private func resolve(_ mapping: EntityMapping, _ place: Int) throws(MigrationError) -> ResolvedMapping {
        let old = try entity(mapping.sourceEntityName, in: source, mapping, "the old version")
        let new = try entity(mapping.destinationEntityName, in: target, mapping, "the new version")
        switch mapping.mappingType {
        case .add where new == nil: throw bad(mapping, "adds objects and names no entity of the new version")
        case .remove where old == nil: throw bad(mapping, "removes objects and names no entity of the old version")
        case .copy, .transform:
            guard old != nil, new != nil else { throw bad(mapping, "names no entity on one of its sides") }
        case .custom where mapping.entityMigrationPolicy == nil: throw bad(mapping, "is custom and has no policy")
        default: break
        }
        var attributes: [ResolvedMapping.Attribute] = []
        var relationships: [ResolvedMapping.Relation] = []
        if let old, let new {
            attributes = try self.attributes(mapping, old, new)
            relationships = try self.relationships(mapping, old, new)
        }
        let keepsIdentity = new.map { oldNames[$0.name] == old?.name } ?? false
        let isOnly = mappings.filter { $0.destinationEntityName == new?.name }.count == 1
        return ResolvedMapping(
            mapping: mapping, place: place, source: old, destination: new, keepsIdentity: keepsIdentity,
            isOneToOne: keepsIdentity && isOnly && !showsObjects,
            attributes: attributes, relationships: relationships)
    }

    private func entity(
        _ name: String?, in schema: Schema, _ mapping: EntityMapping, _ version: String
    ) throws(MigrationError) -> Schema.Entity? {
        guard let name else { return nil }
        if let entity = schema.entitiesByName[name] { return entity }
        let hint = NearestName.nearest(to: name, among: schema.entities.map(\.name)).map { "; did you mean \"\($0)\"?" }
        throw bad(mapping, "names \(name), which is no entity of \(version)\(hint ?? "")")
    }

    // MARK: Attributes

    private func attributes(
        _ mapping: EntityMapping, _ old: Schema.Entity, _ new: Schema.Entity
    ) throws(MigrationError) -> [ResolvedMapping.Attribute] {
        var named: Set<String> = []
        var all: [ResolvedMapping.Attribute] = []
        for property in mapping.attributeMappings {
            guard let attribute = new.properties.first(where: { $0.name == property.name }) as? Schema.Attribute else {
                throw unknown(property.name, among: new, mapping, property: property.name)
            }
            if property.valueExpression == nil { try checkMayLack(attribute, mapping, new) }
            named.insert(property.name)
            guard
                let value = try property.valueExpression.map({ (expression) throws(MigrationError) in
                    try self.value(expression, attribute, mapping, old)
                })
            else { continue }
            all.append(.init(name: property.name, value: value))
        }
        for case let attribute as Schema.Attribute in new.properties where !named.contains(attribute.name) {
            if let forerunner = forerunner(of: attribute, in: old, new) {
                all.append(.init(name: attribute.name, value: copied(forerunner, to: attribute)))
            } else {
                try checkMayLack(attribute, mapping, new)
            }
        }
        return all
    }

    /// Checks that an attribute may stay without a value; a policy is responsible for its own objects.
    private func checkMayLack(
        _ attribute: Schema.Attribute, _ mapping: EntityMapping, _ new: Schema.Entity
    ) throws(MigrationError) {
        guard !attribute.isOptional, !attribute.hasDefaultValue, !attribute.isTransient,
            mapping.entityMigrationPolicy == nil
        else { return }
        throw bad(
            mapping,
            "leaves \(new.name).\(attribute.name) without a value, which is required and has no default. Give it a PropertyMapping, or a default",
            property: attribute.name)
    }

    private func value(
        _ expression: ValueExpression, _ attribute: Schema.Attribute, _ mapping: EntityMapping, _ old: Schema.Entity
    ) throws(MigrationError) -> ResolvedMapping.Attribute.Value {
        switch expression.form {
        case .constant(let value):
            if value == nil, !attribute.isOptional {
                throw bad(mapping, "gives \(attribute.name) nil, and it is required", property: attribute.name)
            }
            return .constant(value)
        case .computed(let body): return .computed(body)
        case .destinations, .counterparts:
            throw bad(
                mapping, "gives \(attribute.name) objects, and it is an attribute", property: attribute.name)
        case .source(let path):
            let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard let first = names.first, let property = old.properties.first(where: { $0.name == first }) else {
                throw unknown(names.first ?? path, among: old, mapping, property: attribute.name)
            }
            guard names.count == 1 else {
                try check(names, of: old, for: attribute, mapping)
                return .path(path)
            }
            guard let forerunner = property as? Schema.Attribute else {
                throw bad(
                    mapping, "gives \(attribute.name) the relationship \(old.name).\(first)", property: attribute.name)
            }
            return Self.isCopied(forerunner, to: attribute) ? copied(forerunner, to: attribute) : .path(path)
        }
    }

    /// Checks each name of a path as `value(forKeyPath:)` will follow it; after a collection's operator, and inside
    /// composite values, errors are only found at run time.
    private func check(
        _ names: [String], of old: Schema.Entity, for attribute: Schema.Attribute, _ mapping: EntityMapping
    ) throws(MigrationError) {
        var entity = old
        for name in names {
            if name.hasPrefix("@") { return }
            guard let property = entity.properties.first(where: { $0.name == name }) else {
                throw unknown(name, among: entity, mapping, property: attribute.name)
            }
            guard let relationship = property as? Schema.Relationship,
                let destination = source.entitiesByName[relationship.destination]
            else { return }
            entity = destination
        }
        throw bad(
            mapping, "gives \(attribute.name) the objects of \(names.joined(separator: "."))", property: attribute.name)
    }

    private func copied(
        _ old: Schema.Attribute, to new: Schema.Attribute
    ) -> ResolvedMapping.Attribute.Value {
        .copied(
            old.name, keepsDefault: !new.isOptional && new.hasDefaultValue,
            isSameKind: old.kind == new.kind && !old.isTransient && !new.isTransient)
    }

    /// The old names that a property may continue, in their order of precedence.
    private func oldNames(
        of property: any SchemaProperty, in old: Schema.Entity, _ new: Schema.Entity
    ) -> [String] {
        // Between versions of one entity a rename is followed over any number of versions.
        guard oldNames[new.name] == old.name else { return [property.name, property.originalName] }
        return oldPropertyNames[new.name]?[property.name].map { [$0] } ?? []
    }

    private func forerunner(
        of attribute: Schema.Attribute, in old: Schema.Entity, _ new: Schema.Entity
    ) -> Schema.Attribute? {
        for name in oldNames(of: attribute, in: old, new) {
            guard let found = old.properties.first(where: { $0.name == name }) as? Schema.Attribute else { continue }
            return Self.isCopied(found, to: attribute) ? found : nil
        }
        return nil
    }

    /// Whether values of one attribute become those of another as they are.
    private static func isCopied(_ old: Schema.Attribute, to new: Schema.Attribute) -> Bool {
        old.kind == new.kind || isNumber(old) && isNumber(new)
    }

    private static func isNumber(_ attribute: Schema.Attribute) -> Bool {
        attribute.kind.isInteger || attribute.kind == .float || attribute.kind == .double
    }

    // MARK: Relationships

    private func relationships(
        _ mapping: EntityMapping, _ old: Schema.Entity, _ new: Schema.Entity
    ) throws(MigrationError) -> [ResolvedMapping.Relation] {
        var named: Set<String> = []
        var all: [ResolvedMapping.Relation] = []
        for property in mapping.relationshipMappings {
            guard let relationship = new.properties.first(where: { $0.name == property.name }) as? Schema.Relationship
            else { throw unknown(property.name, among: new, mapping, property: property.name) }
            named.insert(property.name)
            guard let expression = property.valueExpression else { continue }
            let value: ResolvedMapping.Relation.Value
            switch expression.form {
            case .constant:
                throw bad(mapping, "gives the relationship \(property.name) a constant", property: property.name)
            case .computed(let body): value = .computed(body)
            case .source(let name): value = try destinations(of: name, by: nil, relationship, mapping, old)
            case .destinations(let name, let by): value = try destinations(of: name, by: by, relationship, mapping, old)
            case .counterparts(let by):
                let place = try self.place(of: by, making: relationship, mapping)
                guard mappings[place].sourceEntityName == old.name else {
                    throw bad(mapping, "relates \(property.name) by \(by), which reads other objects than \(old.name)")
                }
                value = .counterparts(by: place)
            }
            all.append(.init(name: property.name, isToOne: relationship.isToOneRelationship, value: value))
        }
        for case let relationship as Schema.Relationship in new.properties where !named.contains(relationship.name) {
            guard let forerunner = forerunner(of: relationship, in: old, new),
                !followsInverse(relationship, from: forerunner, in: old, new),
                let value = inferred(forerunner, relationship)
            else { continue }
            all.append(.init(name: relationship.name, isToOne: relationship.isToOneRelationship, value: value))
        }
        return all
    }

    private func destinations(
        of name: String, by mappingName: String?, _ relationship: Schema.Relationship, _ mapping: EntityMapping,
        _ old: Schema.Entity
    ) throws(MigrationError) -> ResolvedMapping.Relation.Value {
        guard let forerunner = old.properties.first(where: { $0.name == name }) as? Schema.Relationship else {
            throw unknown(name, among: old, mapping)
        }
        guard let mappingName else {
            if let value = inferred(forerunner, relationship) { return value }
            throw bad(
                mapping,
                "relates \(relationship.name) to what \(forerunner.destination) became, and no mapping makes \(relationship.destination) of it"
            )
        }
        let place = try place(of: mappingName, making: relationship, mapping)
        guard mappings[place].sourceEntityName == forerunner.destination else {
            throw bad(
                mapping,
                "relates \(relationship.name) to what \(forerunner.destination) became by \(mappingName), which reads \(mappings[place].sourceEntityName ?? "no objects")",
                property: relationship.name)
        }
        return .destinations(of: name, by: [place])
    }

    private func place(
        of mappingName: String, making relationship: Schema.Relationship, _ mapping: EntityMapping
    ) throws(MigrationError) -> Int {
        if let place = mappings.firstIndex(where: { $0.name == mappingName }),
            mappings[place].destinationEntityName == relationship.destination
        {
            return place
        }
        let hint = NearestName.nearest(to: mappingName, among: mappings.map(\.name)).map { "; there is \($0)" } ?? ""
        throw bad(
            mapping, "relates \(relationship.name) by \(mappingName), which makes no \(relationship.destination)\(hint)"
        )
    }

    /// The default target of a relationship.
    private func inferred(
        _ old: Schema.Relationship, _ new: Schema.Relationship
    ) -> ResolvedMapping.Relation.Value? {
        let places = mappings.indices.filter {
            mappings[$0].sourceEntityName == old.destination && mappings[$0].destinationEntityName == new.destination
        }
        if !places.isEmpty { return .destinations(of: old.name, by: places) }
        if !rewritten.contains(new.destination), oldNames[new.destination] == old.destination {
            return .kept(of: old.name, in: new.destination)
        }
        return nil
    }

    private func forerunner(
        of relationship: Schema.Relationship, in old: Schema.Entity, _ new: Schema.Entity
    ) -> Schema.Relationship? {
        for name in oldNames(of: relationship, in: old, new) {
            if let found = old.properties.first(where: { $0.name == name }) as? Schema.Relationship { return found }
        }
        return nil
    }

    /// Whether the other side of a relationship sets it: a to-many relationship by its to-one inverse, or by the links
    /// of an entity that is carried over.
    ///
    /// Many-to-many relationships are set by both sides, each with its own order. If rows that a mapping rewrites had
    /// references, or the objects had another entity, there are no links that could stay.
    private func followsInverse(
        _ relationship: Schema.Relationship, from forerunner: Schema.Relationship, in old: Schema.Entity,
        _ new: Schema.Entity
    ) -> Bool {
        guard !relationship.isToOneRelationship, let inverse = target.inverse(of: relationship) else { return false }
        if inverse.isToOneRelationship { return true }
        let hadLinks =
            !forerunner.isToOneRelationship && source.inverse(of: forerunner)?.isToOneRelationship != true
        return hadLinks && oldNames[new.name] == old.name && !rewritten.contains(relationship.destination)
    }

    private func unknown(
        _ name: String, among entity: Schema.Entity, _ mapping: EntityMapping, property: String? = nil
    ) -> MigrationError {
        MigrationError(
            .badPlan,
            "The mapping \(mapping.name) of the stage to \(stage) cannot be. \(NearestName.unknown(name, among: entity))",
            stage: "\(source.version) → \(target.version)", entity: entity.name, property: property ?? name)
    }

    private func bad(_ mapping: EntityMapping, _ text: String, property: String? = nil) -> MigrationError {
        MigrationError(
            .badPlan, "The mapping \(mapping.name) of the stage to \(stage) \(text).",
            stage: "\(source.version) → \(target.version)",
            entity: mapping.destinationEntityName ?? mapping.sourceEntityName, property: property)
    }
}
