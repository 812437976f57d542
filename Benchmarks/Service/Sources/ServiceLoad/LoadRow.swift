import BenchmarkKit

/// The figures of one endpoint of one service in one round: a JSON line.
struct LoadRow {
    let service: String
    let endpoint: Endpoint
    let clients: Int
    let round: Int
    let seconds: Double
    let requestCount: Int
    let refusalCount: Int
    let latencies: Latencies
    let threads: Int
    let peakKiB: Int

    var rate: Double { Double(requestCount) / seconds }
    func milliseconds(_ share: Double) -> Double { (latencies.microseconds(atShare: share) ?? 0) / 1_000 }

    var json: String {
        let fields = [
            #""service":"\#(service)""#, #""endpoint":"\#(endpoint.rawValue)""#,
            #""clients":\#(clients)"#, #""round":\#(round)"#,
            #""seconds":\#(ResultLine.rounded(seconds, digits: 3))"#, #""requests":\#(requestCount)"#,
            #""refused":\#(refusalCount)"#, #""requests_per_s":\#(ResultLine.rounded(rate, digits: 1))"#,
            #""p50_ms":\#(ResultLine.rounded(milliseconds(0.5), digits: 3))"#,
            #""p99_ms":\#(ResultLine.rounded(milliseconds(0.99), digits: 3))"#,
            #""p999_ms":\#(ResultLine.rounded(milliseconds(0.999), digits: 3))"#,
            #""threads":\#(threads)"#, #""peak_rss_kb":\#(peakKiB)"#,
        ]
        return "{" + fields.joined(separator: ",") + "}"
    }
}
