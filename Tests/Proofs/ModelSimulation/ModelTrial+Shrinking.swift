extension ModelTrial {
    /// A workload with a violation, made as short as possible.
    package struct Shrunk: Sendable {
        package let seed: UInt64
        /// The numbers of the remaining operations.
        package let kept: [Int]
        package let operationList: [String]
        package let violation: String

        /// The numbers as a command-line argument.
        package var keptList: String { kept.map(String.init).joined(separator: ",") }
    }

    /// Removes operations that the violation does not need.
    ///
    /// - Parameter outcome: The outcome of this trial, with a violation.
    /// - Returns: The remaining operations and their violation.
    package func shrunk(after outcome: Outcome) -> Shrunk {
        let end = (outcome.operation ?? operations.last?.number ?? 0) + 1
        var violation = outcome.violation ?? ""
        // A violation that involves a thread of the store may not be reproducible. The list stays unchanged then.
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

    /// Tries workloads until one detects a canary.
    ///
    /// - Returns: The workload after shrinking, or `nil` if none detects the canary.
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
