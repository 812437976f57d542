import Dispatch
import Foundation
import Glibc

/// A run of tests, or of a proof, in a process that is a mutant, or Faultline as it is.
package struct MutantTrial {
    package enum Outcome: Equatable, Sendable {
        case passed
        /// It said that something is wrong.
        case failed
        /// A signal ended it: it trapped, or read beyond its memory.
        case trapped(Int32)
        /// It did not come to an end, and was killed.
        case hung
    }

    /// Seconds after which a run counts as hanging.
    private static let secondCountMax = 300

    package private(set) var outcome = Outcome.passed
    /// What it said last, for people.
    package private(set) var lastLines: [Substring] = []

    /// Runs it.
    ///
    /// - Parameters:
    ///   - killer: What to run.
    ///   - number: The mutant; 0 for none.
    ///   - build: Where it was built.
    /// - Throws: What keeps the process from being started.
    package init(_ killer: Mutant.Killer, as number: Int, of build: MutantBuild) throws {
        let process = Process()
        switch killer {
        case .tests(let words):
            process.executableURL = build.path(of: .tests)
            process.arguments = ["--testing-library", "swift-testing", "--filter", words]
        case .proof(let proof, let seeds, let imageCount):
            process.executableURL = build.path(of: .proof)
            process.arguments = [proof.rawValue, "\(seeds.lowerBound)", "\(seeds.upperBound)", "\(imageCount)"]
        }
        var environment = ProcessInfo.processInfo.environment
        environment[MutantBuild.switchName] = "\(number)"
        process.environment = environment
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let identifier = process.processIdentifier
        let limit = DispatchWorkItem { kill(identifier, SIGKILL) }
        let begin = DispatchTime.now()
        DispatchQueue.global().asyncAfter(deadline: begin + .seconds(Self.secondCountMax), execute: limit)
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        limit.cancel()
        lastLines = text.split(separator: "\n").suffix(2)
        let status = process.terminationStatus
        if DispatchTime.now() >= begin + .seconds(Self.secondCountMax) {
            outcome = .hung
        } else if process.terminationReason == .uncaughtSignal {
            outcome = .trapped(status)
        } else if status != 0 {
            outcome = .failed
        }
    }
}
