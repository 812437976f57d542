import BenchmarkKit
import Foundation

/// Runs Faultline and the peers in turn, one process a run, and compares them.
struct Comparison {
    private let arguments: ComparisonArguments
    private static let faultline = "faultline"

    init(_ arguments: ComparisonArguments) {
        self.arguments = arguments
    }

    /// One program, with the command line for its workloads.
    private struct Contestant {
        let name: String
        let program: String
        let words: [String]
        let workloads: [String]
    }

    /// Prints the line of each run as it comes, then the tables.
    ///
    /// - Throws: `.wrongResult` after the tables if a run failed; its error is among the lines.
    func run() throws {
        let contestants = try contestants()
        let known = contestants.dropFirst().flatMap(\.workloads)
        let workloads = arguments.workloads ?? contestants.first?.workloads.filter(known.contains) ?? []
        var runs: [ComparedRun] = []
        var failures: [String] = []
        for workload in workloads {
            let those = contestants.filter { $0.workloads.contains(workload) }
            if those.isEmpty { throw BenchmarkError(.usage, "there is no workload \(workload)") }
            for round in 0..<arguments.roundCount {
                // Another contestant begins each round, so that none always runs on a warmer machine.
                for place in those.indices {
                    let contestant = those[(place + round) % those.count]
                    do {
                        let line = try Self.run(contestant, workload, arguments)
                        print(line)
                        // Errors of a run are not buffered, so lines must not be either.
                        fflush(nil)
                        runs.append(try ComparedRun(line))
                    } catch {
                        failures.append("\(contestant.name) \(workload)")
                    }
                }
            }
        }
        print(ComparisonTable(runs).text)
        for entry in PeerList.all where runs.contains(where: { $0.peer == entry.name }) {
            print("\(entry.name): \(entry.settings)")
        }
        if !failures.isEmpty { throw BenchmarkError(.wrongResult, "failed: \(failures.joined(separator: ", "))") }
    }

    /// All contestants, Faultline first.
    private func contestants() throws -> [Contestant] {
        let own = try ChildProcess(arguments.faultline, ["--list"], readsOutput: true).finish()
        let faultline = Contestant(
            name: Self.faultline,
            program: arguments.faultline,
            words: ["--store", arguments.store],
            workloads: own.split(separator: "\n").map(String.init)
        )
        let peers = PeerList.all.filter { arguments.peers?.contains($0.name) ?? true }.map { entry in
            Contestant(
                name: entry.name,
                program: "/proc/self/exe",
                words: ["--peer", entry.name, "--store", "\(arguments.store)/\(entry.folder)"],
                workloads: entry.workloads.map(\.name)
            )
        }
        return [faultline] + peers
    }

    /// Prepares in a separate process, so that the memory of the preparation is not measured.
    private static func run(
        _ contestant: Contestant,
        _ workload: String,
        _ arguments: ComparisonArguments
    ) throws -> String {
        var words = contestant.words + ["--workload", workload]
        if let n = arguments.n { words += ["--n", n] }
        _ = try ChildProcess(contestant.program, words + ["--prepare"], readsOutput: true).finish()
        let output = try ChildProcess(contestant.program, words, readsOutput: true).finish()
        return output.split(separator: "\n").map(String.init).joined()
    }
}
