internal import FaultlineModel
internal import FaultlineObjects

/// Checks the objects that a stage has made against the relationship rules of the new schema.
struct RuleCheck {
    /// The greatest number of findings that an error names.
    static let findingsMax = 20

    let target: ContextCore
    let schema: Schema
    /// Entities whose objects were rewritten.
    let rewritten: Set<String>
    let course: MigrationCourse
    /// Whether an object is skipped, because it will not stay.
    var isLeftOut: (_ entityName: String, _ number: UInt64) -> Bool = { _, _ in false }

    /// The first findings, up to a limit.
    ///
    /// Reads the rows of the entities that have such rules, and the entries of collections with a minimum or maximum
    /// number of members, for one object at a time.
    ///
    /// - Throws: The store's error if it cannot be read; `MigrationError` of code `cancelled`.
    func run(limit: Int) throws -> [BrokenRule] {
        var findings: [BrokenRule] = []
        for entity in schema.entities where isConcerned(entity) {
            try course.begin(.validation, of: entity.name, total: target.storedCount(entityNamed: entity.name))
            findings += try target.brokenRules(
                entityNamed: entity.name, limit: limit - findings.count, targetsOf: rewritten,
                except: { isLeftOut(entity.name, $0) }
            ) { try course.advance(by: $0) }
            if findings.count >= limit { break }
        }
        return findings
    }

    /// Whether an entity has rules on relationships, and was rewritten or has them on one that was.
    private func isConcerned(_ entity: Schema.Entity) -> Bool {
        entity.properties.contains {
            guard let relationship = $0 as? Schema.Relationship,
                rewritten.contains(entity.name) || rewritten.contains(relationship.destination)
            else { return false }
            if relationship.isToOneRelationship { return !relationship.isOptional }
            return relationship.minimumModelCount ?? 0 > 0 || relationship.maximumModelCount ?? 0 > 0
        }
    }
}
