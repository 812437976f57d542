import BenchmarkKit
import Foundation

/// The fields of a line of results that a comparison uses.
struct ComparedRun: Decodable {
    let peer: String
    let workload: String
    let n: Int
    let operations: Int
    let seconds: Double
    let processorSeconds: Double
    let load: Double

    private enum CodingKeys: String, CodingKey {
        case peer, workload, n, seconds
        case operations = "ops"
        case processorSeconds = "cpu_seconds"
        case load = "load1"
    }

    init(_ line: String) throws { self = try JSONDecoder().decode(ComparedRun.self, from: Data(line.utf8)) }
}
