extension ModelTrial {
    /// A life in which something is wrong, as short as it was made.
    package struct Shrunk: Sendable {
        package let seed: UInt64
        /// The numbers of the operations that are left.
        package let kept: [Int]
        package let operationList: [String]
        package let violation: String

        /// The numbers as a command line takes them.
        package var keptList: String { kept.map(String.init).joined(separator: ",") }
    }

    /// Leaves out what is not needed for something to be wrong.
    ///
    /// - Parameter outcome: What this life came to; something was wrong.
    /// - Returns: What is left, and what is wrong with it.
    package func shrunk(after outcome: Outcome) -> Shrunk {
        let end = (outcome.operation ?? operations.last?.number ?? 0) + 1
        var violation = outcome.violation ?? ""
        // A thread of the store may bring it up another time only: then the life stays as it was.
        let kept = shrink(operations.map(\.number).filter { $0 <= end }) { kept in
            guard let found = keeping(kept).run().violation else { return false }
            violation = found
            return true
        }
        return Shrunk(
            seed: seed, kept: kept, operationList: keeping(kept).operationList, violation: violation)
    }

    private func keeping(_ kept: [Int]) -> ModelTrial {
        ModelTrial(seed: seed, keeping: kept, operationCount: operationCount, canary: canary)
    }

    /// Tries lives until one shows a broken rule.
    ///
    /// - Returns: That life, made small; nil if none of them does.
    package static func catching(
        _ canary: ModelCanary, operationCount: Int = ModelOperation.countOfLife
    ) -> Shrunk? {
        for seed in 1..<30 as Range<UInt64> {
            let trial = ModelTrial(seed: seed, operationCount: operationCount, canary: canary)
            let outcome = trial.run()
            if outcome.violation != nil { return trial.shrunk(after: outcome) }
        }
        return nil
    }
}
