/// One random life of an object graph, compared with plain values throughout.
package struct GraphTrial: Sendable {
    /// The result of a life.
    package struct Outcome: Sendable {
        package var operationCount = 0
        /// The number of saves that had to be refused, and were.
        package var refusalCount = 0
        /// The number of operations of each kind.
        package var kinds: [String: Int] = [:]
        /// The difference found, with the operations before it; nil if there is none.
        package var violation: String?
    }

    /// The default number of operations of one life.
    package static let countOfLife = 3_000

    package let seed: UInt64
    package let operationCount: Int
    /// The maximum number of operations that a violation names.
    let traceCount: Int
    let canary: GraphCanary?

    package init(seed: UInt64, operationCount: Int = countOfLife, traceCount: Int = 16, canary: GraphCanary? = nil) {
        self.seed = seed
        self.traceCount = traceCount
        self.operationCount =
            GraphLife.isLarge(seed) ? min(operationCount, GraphLife.largeOperationMax) : operationCount
        self.canary = canary
    }

    /// Runs the life to its end or to the first violation.
    package func run() -> Outcome {
        var outcome = Outcome()
        do {
            try HeldByRelationship.check()
            let life = try GraphLife(seed: seed, canary: canary)
            do { try life.run(operationCount) } catch {
                outcome.violation =
                    "operation \(life.operationCount): \(error); \(life.findingOfFreshContext)\n  \(life.trace.last(traceCount))"
            }
            outcome.operationCount = life.operationCount
            outcome.kinds = life.kinds
            outcome.refusalCount = life.world.refusalCount
        } catch {
            outcome.violation = "before the first operation: \(error)"
        }
        return outcome
    }

    /// The first of a few seeds under which a broken rule is detected, and the violation.
    package static func catching(_ canary: GraphCanary) -> (seed: UInt64, violation: String)? {
        for seed in 1...20 as ClosedRange<UInt64> {
            if let violation = GraphTrial(seed: seed, canary: canary).run().violation { return (seed, violation) }
        }
        return nil
    }
}
