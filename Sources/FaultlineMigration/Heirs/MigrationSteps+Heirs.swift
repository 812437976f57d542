internal import FaultlineModel

extension MigrationSteps {
    /// Checks the changes that a step makes to tables with the rows of several classes.
    ///
    /// - Throws: `MigrationError` of code `notLightweight` for a change of a hierarchy that needs other rows, and of code
    ///   `badPlan` for a stage that goes through the objects of one.
    static func checkHeirs(_ step: Step) throws(MigrationError) {
        guard step.from.hasHeirs || step.to.hasHeirs else { return }
        try checkHierarchies(step)
        try checkCode(step)
    }

    private static func checkHierarchies(_ step: Step) throws(MigrationError) {
        let difference = step.to.difference(from: step.from)
        for change in difference.hierarchyChanges.sorted(by: { $0.key < $1.key }).map(\.value) {
            if let refusal = change.refusal { throw refused(step, refusal.className, refusal.reason) }
        }
        // Each table goes on in one, and no class changes its table.
        let tables = difference.oldEntityNames
        for entity in step.to.entities {
            for heir in entity.heirs {
                let old = heir.originalName ?? heir.name
                guard let table = tables[entity.name] else { continue }
                let others = step.from.entities.filter { $0.name != table }
                if others.contains(where: { $0.name == old || $0.heir(named: old) != nil }) {
                    throw refused(step, heir.name, "becomes a subclass of \(entity.name), and had another table")
                }
            }
        }
        for entity in step.from.entities {
            for heir in entity.heirs where step.to.entitiesByName[heir.name] != nil {
                guard tables[heir.name] != entity.name || tables.values.count(where: { $0 == entity.name }) > 1 else {
                    continue
                }
                throw refused(step, heir.name, "becomes a root class, and was a subclass of \(entity.name)")
            }
        }
    }

    private static func refused(_ step: Step, _ name: String, _ change: String) -> MigrationError {
        MigrationError(
            .notLightweight,
            "The class \(name) \(change). No stage can do that: make a new class beside it, copy the objects when the store is open, and remove the old class in a later version.",
            stage: step.title, entity: name
        ).comparing(SchemaMismatch(stored: step.from, requested: step.to))
    }

    /// Code of a stage has one class for the objects of a table.
    private static func checkCode(_ step: Step) throws(MigrationError) {
        let names: [String]
        if step.closures != nil {
            names = (step.from.entities + step.to.entities).map(\.name)
        } else {
            names = Array(step.convertedEntities) + Array(step.rewrittenEntities(from: step.from))
        }
        let held = (step.from.entities + step.to.entities).filter { entity in
            entity.hasHeirs && (names.contains(entity.name) || entity.heirs.contains { names.contains($0.name) })
        }
        guard let entity = held.min(by: { $0.name < $1.name }) else { return }
        throw MigrationError(
            .badPlan,
            "The stage to \(step.name) has code for \(entity.name), which has the subclasses \(entity.heirs.map(\.name).joined(separator: ", ")): a stage with code cannot have a class with subclasses. Let a lightweight stage make the change, and change the objects when the store is open.",
            stage: step.title, entity: entity.name)
    }
}
