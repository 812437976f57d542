import Faultline
import FaultlineDisk
import FaultlineMigration
import Synchronization
import Testing

/// Objects that require one another in a chain, one end of which is quarantined.
struct QuarantineChainTests {
    /// Migrates a chain of steps, each of which requires the step made before it, or the step made after it; the step at
    /// one end has none.
    ///
    /// - Returns: The passes over the steps that checked them.
    private func passes(steps count: Int, isDescending: Bool) throws -> Int {
        let stores = Stores()
        try stores.use(Chain1.self) { _, context in
            let steps = (0..<count).map { Chain1.Step(number: $0) }
            steps.forEach { context.insert($0) }
            for (step, next) in zip(steps, steps.dropFirst()) {
                if isDescending { step.required = next } else { next.required = step }
            }
            try context.save()
        }
        let passes = Guarded(0)
        var options = MigrationOptions(unhandledData: .drop)
        options.onFailure = .quarantine(limit: 1_000)
        options.progress = { progress in
            if progress.pass == .validation, progress.done == 0 { passes.withLock { $0 += 1 } }
        }
        try stores.use(Chain2.self, ChainPlan.self, migration: options) { container, context in
            #expect(try context.all(Chain2.Step.self).isEmpty)
            var taken: [UInt64] = []
            try container.quarantine().enumerate { taken.append($0.number) }
            #expect(taken.sorted() == (1...UInt64(count)).map { $0 })
        }
        return passes.withLock { $0 }
    }

    @Test(arguments: [false, true])
    func `C6: a chain of objects that require one another is quarantined in as many passes as a short one`(
        isDescending: Bool
    ) throws {
        let few = try passes(steps: 3, isDescending: isDescending)
        let many = try passes(steps: 30, isDescending: isDescending)
        #expect(many == few)
    }
}

private enum Chain1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Step.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Step {
        var number: Int
        var required: Step?
        init(number: Int) { self.number = number }
    }
}

private enum Chain2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Step.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Step {
        var number: Int
        var required: Step
        init(number: Int, required: Step) {
            self.number = number
            self.required = required
        }
    }
}

private enum ChainPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Chain1.self, Chain2.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: Chain1.self, toVersion: Chain2.self)] }
}
