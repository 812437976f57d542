internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// Checks the objects that a stage has made against the relationship rules of the new schema.
struct RuleCheck {
    /// The greatest number of findings that an error names.
    static let findingsMax = 20

    let target: StageContext
    let schema: Schema
    /// Entities whose objects were rewritten.
    let rewritten: Set<String>
    let course: MigrationCourse
    /// Whether an object is skipped, because it will not stay.
    var isLeftOut: (_ entityName: String, _ number: UInt64) -> Bool = { _, _ in false }

    /// The first findings, up to a limit.
    ///
    /// A migration's first pass makes objects before their related objects exist, so it checks afterwards.
    ///
    /// Reads the rows of the entities that have such rules, and the entries of collections with a minimum or maximum
    /// number of members, for one object at a time.
    ///
    /// - Throws: The store's error if it cannot be read; `MigrationError` of code `cancelled`.
    func run(limit: Int) throws -> [BrokenRule] {
        var findings: [BrokenRule] = []
        for entity in schema.entities where isConcerned(entity) {
            try course.begin(.validation, of: entity.name, total: target.storedCount(entityNamed: entity.name))
            findings += try brokenRules(of: entity.name, limit: limit - findings.count)
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

    // MARK: One entity

    private static let readAheadByteCount = 128 << 10

    private var store: RowStore { target.core.store }

    /// Finds rows of an entity that lack required objects, or whose collections have too few or too many members.
    private func brokenRules(of name: String, limit: Int) throws -> [BrokenRule] {
        guard let entity = store.storage.entity(named: name),
            !entity.requiredSlots.isEmpty || !entity.boundedSlots.isEmpty
        else { return [] }
        let properties = store.storage.schema.entities[entity.ordinal].properties
        var findings: [BrokenRule] = []
        func add(_ number: RecordID, _ slot: Int, _ kind: BrokenRule.Kind) {
            findings.append(
                BrokenRule(entityName: name, number: number, propertyName: properties[slot].name, kind: kind))
        }
        try target.core.beginReading()
        defer { target.core.endReading() }
        try target.core.snapshot.scan(
            entity.table, from: 1, through: Limits.recordIDMax, readAhead: Self.readAheadByteCount
        ) { records in
            for record in records where !isLeftOut(name, record.id) {
                let view = try store.view(record, of: entity)
                for slot in entity.requiredSlots {
                    let number = view.toOne(slot)
                    if number == 0 {
                        add(record.id, slot, .missing)
                    } else if try isDangling(number, entity, slot) {
                        add(record.id, slot, .dangling)
                    }
                }
                for slot in entity.boundedSlots {
                    guard case .toMany(let relationship) = entity.slots[slot] else { continue }
                    let count = try memberCount(of: record.id, relationship)
                    if !relationship.bounds.allow(count) { add(record.id, slot, .count(count)) }
                }
            }
            try course.advance(by: records.count)
            return findings.count < limit
        }
        return Array(findings.prefix(limit))
    }

    /// How many members a collection has; a link may outlive the object that it leads to.
    private func memberCount(of owner: RecordID, _ relationship: ToManyStorage) throws -> Int {
        let members = try target.core.snapshot.members(of: owner, in: relationship.members.index)
        guard case .link = relationship.members else { return members.count }
        return try members.count { try !isGone($0, relationship.destination) }
    }

    private func isDangling(_ number: RecordID, _ entity: EntityStorage, _ slot: Int) throws -> Bool {
        guard case .toOne(let relationship) = entity.slots[slot] else { return false }
        return try isGone(number, relationship.destination)
    }

    /// Whether a target is missing: checked for rewritten entities.
    private func isGone(_ number: RecordID, _ ordinal: Int) throws -> Bool {
        let destination = store.storage.entities[ordinal]
        guard rewritten.contains(destination.name) else { return false }
        return try target.core.snapshot.location(of: number, in: destination.table).isAbsent
    }
}
