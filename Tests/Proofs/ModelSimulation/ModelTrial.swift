package import FaultlineDisk
import FaultlineLog

/// Runs one random workload with each configuration.
///
/// All runs must match the model and see the same results.
package struct ModelTrial: Sendable {
    /// The outcome of a trial.
    package struct Outcome: Sendable {
        /// The number of executed operations, over all configurations.
        package var operationCount = 0
        /// The kinds of operations that had an effect.
        package var kinds: Set<ModelKind> = []
        /// The call sites in the log that synchronized a file.
        package var sites: Set<SyncSite> = []
        /// A description of the violation, or `nil`.
        package var violation: String?
        /// The number of the operation with the violation.
        package var operation: Int?
    }

    package let seed: UInt64
    let operations: [ModelOperation]
    let operationCount: Int
    let canary: ModelCanary?

    /// - Parameters:
    ///   - seed: Determines the workload.
    ///   - kept: The numbers of the operations to run, or `nil` for all.
    ///   - operationCount: The number of operations in the workload.
    ///   - canary: A deliberate error to make.
    package init(
        seed: UInt64, keeping kept: [Int]? = nil, operationCount: Int = ModelOperation.countOfLife,
        canary: ModelCanary? = nil
    ) {
        self.seed = seed
        self.operationCount = operationCount
        let life = ModelOperation.life(seed: seed, count: operationCount)
        operations = kept.map { $0.filter(life.indices.contains).map { life[$0] } } ?? life
        self.canary = canary
    }

    /// The descriptions of the operations.
    package var operationList: [String] { operations.map(\.description) }

    /// Runs the workload with all configurations, or up to the first violation.
    package func run() -> Outcome {
        var outcome = Outcome()
        var first: ModelHistory?
        for configuration in ModelConfiguration.all {
            var present: ModelLife?
            do {
                let life = try ModelLife(operations, configuration, seed: seed, canary: canary)
                present = life
                try life.run()
                outcome.operationCount += operations.count
                outcome.kinds.formUnion(life.kinds)
                outcome.sites.formUnion(life.reachedSites)
                if let difference = first?.firstDifference(from: life.history) {
                    let operation = operations.first { $0.number == difference }.map { "\($0)" } ?? "the end"
                    outcome.violation = "\(configuration.name): operation \(operation) saw something else"
                    outcome.operation = difference
                    return outcome
                }
                if first == nil { first = life.history }
            } catch {
                outcome.operation = present?.present?.number
                let operation = present?.present.map { "operation \($0)" } ?? "creating the store"
                outcome.violation = "\(configuration.name): \(operation): \(error)"
                present?.log.abandonForTests()
                return outcome
            }
        }
        return outcome
    }
}
