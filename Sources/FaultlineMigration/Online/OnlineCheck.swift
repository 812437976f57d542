internal import FaultlineModel
internal import FaultlineStore

/// Refuses an online migration, before anything is written, that others' saves could make wrong.
struct OnlineCheck {
    let stored: StoredCatalog
    let steps: [MigrationSteps.Step]
    let options: MigrationOptions

    private static let remedy =
        "Migrate without isOnline: containers of the old schema can then read, and not save, until it is done. The store is unchanged."

    /// - Parameter consent: The check of values that are dropped.
    /// - Throws: `MigrationError` of code `notOnline`, with stage, entity and relationship; the store's error if it has
    ///   used up its numbers.
    func run(_ consent: MigrationConsent) throws {
        try checkOptions(consent)
        var current = stored
        for step in steps {
            if step.isHeavy {
                throw MigrationError(
                    .notOnline,
                    "The stage \(step.title) is \(step.kind.rawValue), and only lightweight stages can run while others save. \(Self.remedy)",
                    stage: step.title)
            }
            let plan = try EntityMapPlan(
                for: step.to, over: current.schema, in: current.map, layouts: current.layouts, rewriting: [])
            if let link = try step.linksToBuild(plan, over: current.schema).first {
                throw MigrationError(
                    .notOnline,
                    "The stage \(step.title) turns references of \(link.entity) to \(link.destination) into links, which others' saves would change. \(Self.remedy)",
                    stage: step.title, entity: link.entity)
            }
            if let required = try step.requiredReferences(plan, over: current.schema).first {
                throw MigrationError(
                    .notOnline,
                    "The stage \(step.title) makes \(required.entity).\(required.relationship) required, and others' saves could leave it empty. \(Self.remedy)",
                    stage: step.title, entity: required.entity, property: required.relationship)
            }
            current = current.under(step.to, plan.map, adding: plan.newLayouts)
        }
        try checkKept(current)
    }

    /// Containers of the old schema go on reading, so their tables and indexes must stay.
    private func checkKept(_ target: StoredCatalog) throws {
        let (tables, indexes) = (Set(target.map.tables), target.map.indexes)
        func isKept(_ entity: StoredEntity) -> Bool {
            tables.contains(entity.table) && EntityMap(entities: [entity]).indexes.isSubset(of: indexes)
        }
        // No container reads a text index of another release's tokenizer.
        let dropped = stored.map.withoutUnknownTexts.entities.first { !isKept($0) }
        let keepsLinks = EntityMap(links: stored.map.links).indexes.isSubset(of: indexes)
        if dropped == nil, keepsLinks, tables.isSuperset(of: stored.map.tables) { return }
        let what = dropped.map { "\($0.name), or an index, a unique rule or a to-many side of it" } ?? "links"
        throw MigrationError(
            .notOnline,
            "The new version drops \(what), which containers of the old schema read. \(Self.remedy)",
            stage: steps.last?.title, entity: dropped?.name)
    }

    private func checkOptions(_ consent: MigrationConsent) throws {
        var option: String?
        if case .quarantine = options.onFailure {
            option = "onFailure: .quarantine moves objects, which others may change"
        }
        if options.graceNanoseconds != nil { option = "gracePeriod keeps a state that others' saves would change" }
        if options.bytesPerSecond ?? 0 > 0 { option = "bytesPerSecond would count the bytes of others' saves too" }
        if consent.readsValues {
            option =
                "values that the new version lacks must be counted, which others' saves would change; unhandledData: .drop allows their loss"
        }
        guard let option else { return }
        throw MigrationError(
            .notOnline, "The migration cannot run while others save: \(option). \(Self.remedy)",
            stage: steps.first?.title)
    }
}
