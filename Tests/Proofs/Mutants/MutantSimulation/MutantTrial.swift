import Dispatch
import Foundation
import Glibc

/// A run of tests or a proof, in a process with or without a mutant.
package struct MutantTrial {
    package enum Outcome: Equatable, Sendable {
        case passed
        /// The process reported a failure.
        case failed
        /// A signal ended the process: it trapped, or accessed invalid memory.
        case trapped(Int32)
        /// The process did not end in time, and was killed.
        case hung
    }

    /// The seconds after which a run counts as hanging.
    private static let secondCountMax = 300

    package private(set) var outcome = Outcome.passed
    /// The last lines of the output.
    package private(set) var lastLines: [Substring] = []

    /// Runs the tests or the proof.
    ///
    /// - Parameters:
    ///   - killer: The tests or the proof to run.
    ///   - number: The number of the mutant, or 0 for none.
    ///   - build: The build with the programs.
    /// - Throws: The error that prevented the process from starting.
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
