internal import FaultlineModel
internal import FaultlineObjects

/// Asks of the objects that a stage has made what the new schema asks of relationships.
struct RuleCheck {
    let target: ContextCore
    let schema: Schema
    /// Entities that were written anew.
    let rewritten: Set<String>
    let course: MigrationCourse

    /// The first findings, at most so many.
    ///
    /// - Throws: What the store says where it cannot be read; `MigrationError` of code `cancelled`.
    func run(limit: Int) throws -> [BrokenRule] {
        var findings: [BrokenRule] = []
        for entity in schema.entities where isConcerned(entity) {
            try course.begin(.validation, of: entity.name, total: target.storedCount(entityNamed: entity.name))
            findings += try target.brokenRules(
                entityNamed: entity.name, limit: limit - findings.count, targetsOf: rewritten
            ) { try course.advance(by: $0) }
            if findings.count >= limit { break }
        }
        return findings
    }

    /// Whether an entity was written anew, or has to refer to one that was.
    private func isConcerned(_ entity: Schema.Entity) -> Bool {
        rewritten.contains(entity.name)
            || entity.properties.contains {
                guard let relationship = $0 as? Schema.Relationship else { return false }
                return relationship.isToOneRelationship && !relationship.isOptional
                    && rewritten.contains(relationship.destination)
            }
    }
}
