package import FaultlineDisk
import FaultlineLog

/// One random life, lived under each configuration: all must hold what the model says, and have seen the same.
package struct ModelTrial: Sendable {
    /// What a life came to.
    package struct Outcome: Sendable {
        /// Operations that were taken, over all configurations.
        package var operationCount = 0
        /// The kinds of operations that found something to do.
        package var kinds: Set<ModelKind> = []
        /// The places of the log that made something durable.
        package var sites: Set<SyncSite> = []
        /// What is wrong; nil if nothing is.
        package var violation: String?
        /// The operation at which it came up.
        package var operation: Int?
    }

    package let seed: UInt64
    let operations: [ModelOperation]
    let operationCount: Int
    let canary: ModelCanary?

    /// - Parameters:
    ///   - seed: Makes the life.
    ///   - kept: The numbers of the operations that are taken; nil for all.
    ///   - operationCount: How many there are.
    ///   - canary: A rule to be broken.
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

    /// The operations, for people.
    package var operationList: [String] { operations.map(\.description) }

    /// Lives the life under all configurations, or until something is wrong.
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
