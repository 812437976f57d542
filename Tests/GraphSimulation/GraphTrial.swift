/// One random life of an object graph, compared with plain values all the way.
package struct GraphTrial: Sendable {
    /// What a life came to.
    package struct Outcome: Sendable {
        package var operationCount = 0
        /// Saves that had to be refused, and were.
        package var refusalCount = 0
        /// How often each kind of operation came.
        package var kinds: [String: Int] = [:]
        /// What is wrong, with the operations before it; nil if nothing is.
        package var violation: String?
    }

    /// Operations of one life, unless somebody wants another number.
    package static let countOfLife = 3_000

    package let seed: UInt64
    package let operationCount: Int
    let canary: GraphCanary?

    package init(seed: UInt64, operationCount: Int = countOfLife, canary: GraphCanary? = nil) {
        self.seed = seed
        self.operationCount =
            GraphLife.isLarge(seed) ? min(operationCount, GraphLife.largeOperationMax) : operationCount
        self.canary = canary
    }

    /// Lives the life, or until something is wrong.
    package func run() -> Outcome {
        var outcome = Outcome()
        do {
            let life = try GraphLife(seed: seed, canary: canary)
            do { try life.run(operationCount) } catch {
                outcome.violation =
                    "operation \(life.operationCount): \(error); \(life.findingOfFreshContext)\n  \(life.trace.suffix(16).joined(separator: "; "))"
            }
            outcome.operationCount = life.operationCount
            outcome.kinds = life.kinds
            outcome.refusalCount = life.world.refusalCount
        } catch {
            outcome.violation = "creating the store: \(error)"
        }
        return outcome
    }

    /// The first seed of a few under which a broken rule is seen, and what was seen.
    package static func catching(_ canary: GraphCanary) -> (seed: UInt64, violation: String)? {
        for seed in 1...20 as ClosedRange<UInt64> {
            if let violation = GraphTrial(seed: seed, canary: canary).run().violation { return (seed, violation) }
        }
        return nil
    }
}
