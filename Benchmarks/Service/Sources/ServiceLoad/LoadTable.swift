import BenchmarkKit

/// The first service beside the second: medians of the rounds.
struct LoadTable {
    let rows: [LoadRow]

    var text: String {
        var names: [String] = []
        for row in rows where !names.contains(row.service) { names.append(row.service) }
        guard names.count == 2 else { return "" }
        var lines = [["endpoint"] + names.map { $0 + "/s" } + ["ratio"] + names.map { $0 + " p99 ms" }]
        for endpoint in Endpoint.allCases {
            let rates = names.map { median($0, endpoint, \.rate) }
            guard let first = rates[0], let second = rates[1] else { continue }
            let tails = names.map { name in median(name, endpoint) { $0.milliseconds(0.99) } ?? 0 }
            lines.append([
                endpoint.rawValue, ResultLine.rounded(first, digits: 0), ResultLine.rounded(second, digits: 0),
                ResultLine.rounded(first / second, digits: 2), ResultLine.rounded(tails[0], digits: 1),
                ResultLine.rounded(tails[1], digits: 1),
            ])
        }
        return TextTable.aligned(lines)
    }

    private func median(_ service: String, _ endpoint: Endpoint, _ value: (LoadRow) -> Double) -> Double? {
        let all = rows.filter { $0.service == service && $0.endpoint == endpoint }.map(value).sorted()
        return all.isEmpty ? nil : all[all.count / 2]
    }
}
