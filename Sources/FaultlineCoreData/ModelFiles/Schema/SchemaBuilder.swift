internal import FaultlineModel
internal import Foundation

/// Makes a schema of the parts of a model, and lists the parts that a schema does not have.
///
/// Contradictions are left out as findings, so that the schema passes `Schema.validate()`. If it does not, as for an
/// entity with too many properties, the last finding says so.
struct SchemaBuilder {
    let content: ModelContent
    private(set) var findings: [ModelFinding] = []
    /// The entities with a name that is not taken, in the order of the file.
    var entities: [ModelVersion.Entity] = []
    /// The same by name, each without a superentity that is not there or leads to a cycle.
    var entitiesByName: [String: ModelVersion.Entity] = [:]
    /// The properties of each entity that its schema has, in order.
    var properties: [String: [any SchemaProperty]] = [:]
    /// The same by their names.
    private var propertiesByName: [String: [String: any SchemaProperty]] = [:]
    /// The most entities that one inherits from, over each other.
    private static let lineageMax = 100

    /// The places of attributes whose type the reader has reported.
    let placesOfUnknownTypes: Set<String>

    init(_ content: ModelContent) {
        self.content = content
        let unknown = content.findings.filter { ["attributeType", "NSAttributeType"].contains($0.name) }
        placesOfUnknownTypes = Set(unknown.map(\.place))
    }

    mutating func note(
        _ kind: ModelFinding.Kind, _ name: String, at place: String, line: Int?, _ reason: String
    ) {
        findings.append(ModelFinding(kind, name, at: place, line: line, reason))
    }

    mutating func schema() -> Schema {
        chooseEntities()
        noteParts()
        for entity in entities { properties[entity.name] = attributes(of: entity) }
        for entity in entities {
            let relationships = relationships(of: entity)
            properties[entity.name]? += relationships
        }
        propertiesByName = properties.mapValues { properties in
            Dictionary(properties.map { ($0.name, $0) }) { first, _ in first }
        }
        connectInverses()
        for entity in entities { noteProperties(of: entity) }
        let made = entities.map { entity in
            Schema.Entity(
                written: entity.name, originalName: entity.renamingIdentifier, superentityName: entity.superentityName,
                properties: properties[entity.name] ?? [], uniquenessConstraints: constraints(of: entity),
                indices: indexes(of: entity))
        }
        let schema = Schema(written: version, encodingVersion: Schema.schemaEncodingVersion, entities: made)
        do { try schema.validate() } catch {
            note(
                .invalid, error.propertyName ?? error.entityName ?? "model", at: error.entityName ?? "", line: nil,
                "No store takes the schema. \(error.message)")
        }
        return schema
    }

    /// The number of the first identifier of the form `2` or `1.2.3`; 1.0.0 if there is none.
    private var version: Schema.Version {
        for identifier in content.identifiers {
            let parts = identifier.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
            guard (1...3).contains(parts.count), parts.allSatisfy({ $0 >= 0 }) else { continue }
            return Schema.Version(parts[0], parts.count > 1 ? parts[1] : 0, parts.count > 2 ? parts[2] : 0)
        }
        return Schema.Version(1, 0, 0)
    }

    // MARK: Entities

    private mutating func chooseEntities() {
        for entity in content.entities where !entity.name.isEmpty {
            guard entitiesByName[entity.name] == nil else {
                note(
                    .invalid, entity.name, at: "", line: entity.line,
                    "Two entities have this name, and the schema has the first.")
                continue
            }
            entities.append(entity)
            entitiesByName[entity.name] = entity
        }
        var originals: Set<String> = []
        for index in entities.indices {
            if let parent = entities[index].superentityName, !hasRoot(entities[index]) {
                note(
                    .invalid, "parentEntity", at: entities[index].name, line: entities[index].line,
                    "It inherits from \(parent), which is not in the model, inherits from it, or is too deep. The schema cuts the tie."
                )
                entities[index].superentityName = nil
            }
            if let original = entities[index].renamingIdentifier, original != entities[index].name,
                !originals.insert(original).inserted
            {
                note(
                    .invalid, "elementID", at: entities[index].name, line: entities[index].line,
                    "Another entity has the renaming identifier \(original), too. The schema passes it over.")
                entities[index].renamingIdentifier = nil
            }
            entitiesByName[entities[index].name] = entities[index]
        }
    }

    /// Whether the chain of superentities of an entity ends at one that inherits from none.
    private func hasRoot(_ entity: ModelVersion.Entity) -> Bool {
        var visited: Set<String> = [entity.name]
        var parent = entity.superentityName
        while let name = parent {
            guard let next = entitiesByName[name], visited.insert(name).inserted, visited.count <= Self.lineageMax
            else { return false }
            parent = next.superentityName
        }
        return true
    }

    /// An entity, and all that it inherits from, nearest first.
    func lineage(of entity: ModelVersion.Entity) -> [ModelVersion.Entity] {
        var lineage = [entity]
        while let name = lineage.last?.superentityName, let parent = entitiesByName[name],
            lineage.count <= Self.lineageMax
        {
            lineage.append(parent)
        }
        return lineage
    }

    /// The property of an entity with a name, own or inherited.
    func property(_ name: String, of entity: ModelVersion.Entity) -> (any SchemaProperty)? {
        for ancestor in lineage(of: entity) {
            if let property = propertiesByName[ancestor.name]?[name] { return property }
        }
        return nil
    }

    // MARK: Indexes and constraints

    private mutating func constraints(of entity: ModelVersion.Entity) -> [[String]] {
        entity.uniquenessConstraints.filter { names in
            guard !names.isEmpty else { return false }
            for name in names {
                let property = property(name, of: entity)
                let isToMany = property?.asRelationship.map { !$0.isToOneRelationship } ?? false
                guard property == nil || isToMany || property?.isTransient == true else { continue }
                note(
                    .invalid, "uniquenessConstraint", at: "\(entity.name).\(name)", line: entity.line,
                    "The schema leaves the constraint out, because it has no stored value of this name.")
                return false
            }
            return true
        }
    }

    private mutating func indexes(of entity: ModelVersion.Entity) -> [[String]] {
        let attributes = entity.attributes.filter(\.isIndexed).map(\.name)
        let relationships = entity.relationships.filter(\.isIndexed).map(\.name)
        var groups = (attributes + relationships).map { [$0] }
        for index in entity.indexes {
            let place = "\(entity.name)\(index.name.map { ".\($0)" } ?? "")"
            guard index.predicate == nil, index.elements.allSatisfy({ $0.property != nil }) else {
                note(
                    .unexpressed, "fetchIndex", at: place, line: entity.line,
                    "An index of an expression, or with a predicate, is not there: the schema leaves it out.")
                continue
            }
            groups.append(index.elements.compactMap(\.property))
        }
        var seen: Set<[String]> = []
        return groups.filter { names in
            let isStored = names.allSatisfy { name in
                guard let property = property(name, of: entity) else { return false }
                return property.isAttribute || property.asRelationship?.isToOneRelationship == true
            }
            // To-many relationships are looked up by their links.
            return !names.isEmpty && isStored && seen.insert(names).inserted
        }
    }
}
