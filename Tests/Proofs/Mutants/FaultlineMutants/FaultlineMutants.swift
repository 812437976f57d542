import Dispatch
import Foundation
import MutantSimulation
import Synchronization

/// Breaks one rule after another and counts how many of these mutants the tests kill: one JSON line.
@main
struct FaultlineMutants {
    static let usage = "usage: FaultlineMutants SCRATCH [--chosen | --mutant NAME]"

    static func main() {
        do {
            try exit(run(Array(CommandLine.arguments.dropFirst())))
        } catch {
            note("FaultlineMutants: \(error)")
            exit(2)
        }
    }

    private static func run(_ arguments: [String]) throws -> Int32 {
        guard let scratch = arguments.first, !scratch.hasPrefix("-") else { throw WrongUsage(message: usage) }
        let here = URL(filePath: FileManager.default.currentDirectoryPath)
        let build = try MutantBuild(of: here, in: URL(filePath: scratch))
        let numbers = try chosen(arguments.dropFirst(), of: build.mutants)
        guard try build.build(numbers) else { return 1 }
        guard try isWhole(build, numbers) else { return 1 }

        let survivors = Mutex<[String]>([])
        let failure = Mutex<(any Error)?>(nil)
        DispatchQueue.concurrentPerform(iterations: numbers.count) { place in
            let mutant = build.mutants[numbers[place]]
            do {
                let begin = DispatchTime.now()
                let trial = try MutantTrial(mutant.killer, as: numbers[place] + 1, of: build)
                let seconds = Double(DispatchTime.now().uptimeNanoseconds - begin.uptimeNanoseconds) / 1e9
                if trial.outcome == .passed { survivors.withLock { $0.append(mutant.name) } }
                note("\(mutant.name): \(say(trial.outcome)) \(mutant.killer) in \((seconds * 10).rounded() / 10) s")
            } catch {
                failure.withLock { $0 = error }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        let survived = survivors.withLock { $0.sorted() }
        for name in survived { note("survived: \(name)") }
        print(
            #"{"mutants":\#(numbers.count),"killed":\#(numbers.count - survived.count),"survived":\#(survived.count)}"#)
        return survived.isEmpty ? 0 : 1
    }

    /// The indices of the mutants to be tried.
    private static func chosen(_ arguments: ArraySlice<String>, of mutants: [Mutant]) throws -> [Int] {
        switch arguments.first {
        case nil: return Array(mutants.indices)
        case "--chosen": return mutants.indices.filter { mutants[$0].isChosen }
        case "--mutant":
            guard let name = arguments.dropFirst().first,
                let place = mutants.firstIndex(where: { $0.name == name })
            else { throw WrongUsage(message: "no such mutant; they are: \(mutants.map(\.name))") }
            return [place]
        default: throw WrongUsage(message: usage)
        }
    }

    /// Whether all tests that should kill a mutant pass without one.
    private static func isWhole(_ build: MutantBuild, _ numbers: [Int]) throws -> Bool {
        let all = Array(Set(numbers.map { build.mutants[$0].killer }))
        let isWhole = Mutex(true)
        let failure = Mutex<(any Error)?>(nil)
        DispatchQueue.concurrentPerform(iterations: all.count) { place in
            do {
                let trial = try MutantTrial(all[place], as: 0, of: build)
                guard trial.outcome != .passed else { return }
                isWhole.withLock { $0 = false }
                note("without a mutant: \(say(trial.outcome)) \(all[place]): \(trial.lastLines)")
            } catch {
                failure.withLock { $0 = error }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        return isWhole.withLock { $0 }
    }

    private static func say(_ outcome: MutantTrial.Outcome) -> String {
        switch outcome {
        case .passed: "survived"
        case .failed: "killed by"
        case .trapped(let signal): "ended by signal \(signal) in"
        case .hung: "hung, and so killed, in"
        }
    }

    /// Writes a line for people, on the standard error.
    private static func note(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}

/// The error of an invalid command line.
struct WrongUsage: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
}
