internal import Foundation

/// One serial life: run, recorded in a file, and checked only from that file.
package struct SerialTrial: Sendable {
    /// The number of operations of one life.
    package static let countOfLife = 4_000

    package let seed: UInt64
    let operationCount: Int
    let canary: SerialCanary?

    package init(seed: UInt64, operationCount: Int = countOfLife, canary: SerialCanary? = nil) {
        self.seed = seed
        self.operationCount = operationCount
        self.canary = canary
    }

    /// Runs the life and writes its file.
    ///
    /// - Throws: `SerialFailure`; errors of the store that an operation must not throw; errors of writing the file.
    package func write(to path: String) throws {
        let lines = try SerialLife(seed: seed, operationCount: operationCount, canary: canary).run()
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
    }

    /// Checks the file of a life.
    ///
    /// - Throws: `GraphViolation` at the first difference; errors of reading the file.
    package static func check(_ path: String, canary: SerialCanary? = nil) throws -> SerialCheck.Outcome {
        let text = try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
        return try SerialCheck(text.split(separator: "\n"), canary: canary).run()
    }

    /// Runs the life, checks its file, and keeps the file only if there is a difference.
    ///
    /// - Returns: The outcome, or the difference and the path of the file.
    package func run() -> Result<SerialCheck.Outcome, GraphViolation> {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("faultline-serial-\(seed)-\(UUID().uuidString).txt").path
        do {
            try write(to: path)
            let outcome = try Self.check(path, canary: canary)
            try FileManager.default.removeItem(atPath: path)
            return .success(outcome)
        } catch {
            return .failure(GraphViolation("\(error)\n  the file is \(path): graph --check FILE"))
        }
    }

    /// The first of a few seeds under which a broken rule is detected, and the difference.
    package static func catching(_ canary: SerialCanary) -> (seed: UInt64, violation: String)? {
        for seed in 3...40 as ClosedRange<UInt64> where seed % 8 > 2 {
            let path = FileManager.default.temporaryDirectory
                .appendingPathComponent("faultline-serial-\(canary)-\(UUID().uuidString).txt").path
            defer { try? FileManager.default.removeItem(atPath: path) }
            do {
                try SerialTrial(seed: seed, operationCount: 2_000, canary: canary).write(to: path)
                _ = try check(path, canary: canary)
            } catch { return (seed, "\(error)") }
        }
        return nil
    }
}
