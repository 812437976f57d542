import BenchmarkKit

/// The factor by which Faultline is faster than each peer: medians of the runs.
struct ComparisonTable {
    private let runs: [ComparedRun]
    private static let faultline = "faultline"

    init(_ runs: [ComparedRun]) {
        self.runs = runs
    }

    /// Both tables: by wall-clock time, and by processor time, which varies less on a shared machine.
    var text: String {
        let rounds = Dictionary(grouping: runs) { "\($0.peer) \($0.workload)" }.values.map(\.count)
        let loads = runs.map(\.load)
        return """

            Times as fast as the peer, by the clock (medians of \(rounds.max() ?? 0); load \
            \(Self.rounded(loads.min() ?? 0)) to \(Self.rounded(loads.max() ?? 0))):
            \(table(\.seconds))
            The same by processor time, all threads together:
            \(table(\.processorSeconds))
            faultline: every save on the disk when it returns, memory budget of 64 MiB, everything checked as always
            """
    }

    private func table(_ seconds: KeyPath<ComparedRun, Double>) -> String {
        let peers = Self.distinct(runs.map(\.peer)).filter { $0 != Self.faultline }
        var rows = [["workload", "n", "faultline, ops/s"] + peers]
        for workload in Self.distinct(runs.map(\.workload)) {
            guard let own = median(Self.faultline, workload, seconds),
                let run = runs.first(where: { $0.peer == Self.faultline && $0.workload == workload })
            else { continue }
            let ratios = peers.map { peer in
                median(peer, workload, seconds).map { Self.rounded($0 / own) } ?? "-"
            }
            rows.append([workload, String(run.n), Self.rounded(Double(run.operations) / own)] + ratios)
        }
        return TextTable.aligned(rows)
    }

    /// Seconds of the median run; of an even number the later one.
    private func median(_ peer: String, _ workload: String, _ seconds: KeyPath<ComparedRun, Double>) -> Double? {
        let all = runs.filter { $0.peer == peer && $0.workload == workload }.map { $0[keyPath: seconds] }.sorted()
        guard !all.isEmpty, all[all.count / 2] > 0 else { return nil }
        return all[all.count / 2]
    }

    private static func distinct(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }

    /// Rounds to three significant digits.
    static func rounded(_ number: Double) -> String {
        ResultLine.rounded(number, digits: number < 1 ? 3 : number < 10 ? 2 : number < 100 ? 1 : 0)
    }
}
