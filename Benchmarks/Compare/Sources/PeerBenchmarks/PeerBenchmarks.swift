import BenchmarkKit
import Glibc

/// The peers' benchmark: one workload of one peer a process, like Faultline's own; or all of them compared with
/// Faultline.
///
/// Arguments: `--peer NAME` and those of Faultline's benchmark; or `compare` and those of `ComparisonArguments`.
@main
struct PeerBenchmarks {
    static func main() {
        do {
            var words = CommandLine.arguments.dropFirst()
            if words.first == "compare" {
                words.removeFirst()
                try Comparison(ComparisonArguments(Array(words))).run()
                return
            }
            let known = PeerList.all.map(\.name).joined(separator: " ")
            guard words.popFirst() == "--peer", let name = words.popFirst(),
                let peer = PeerList.all.first(where: { $0.name == name })
            else { throw BenchmarkError(.usage, "usage: --peer NAME …; there are: \(known)") }
            let runner = Runner(peer.workloads, leadingWords: ["--peer", name])
            if let output = try runner.run(Arguments(Array(words))) { print(output) }
        } catch let error as BenchmarkError {
            fail("\(error)", status: error.code == .usage ? 2 : 1)
        } catch {
            fail("\(error)", status: 1)
        }
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        let text = "benchmark: \(message)\n"
        _ = write(2, text, text.utf8.count)
        exit(status)
    }
}
