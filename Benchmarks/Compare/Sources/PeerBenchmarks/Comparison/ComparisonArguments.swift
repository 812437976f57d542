import BenchmarkKit

/// The command line of a comparison: `--faultline PROGRAM --store FOLDER [--workloads "w1 w2"] [--peers "lmdb"]
/// [--n COUNT] [--rounds COUNT]`.
struct ComparisonArguments {
    /// Faultline's own benchmark program.
    var faultline = ""
    /// The folder in which stores are prepared and kept.
    var store = ""
    /// Nil for all that any peer has.
    var workloads: [String]?
    /// Nil for all.
    var peers: [String]?
    /// The number of objects for the workloads; nil for their own numbers.
    var n: String?
    var roundCount = 3

    /// - Throws: `BenchmarkError.Code.usage`, with the wrong word.
    init(_ words: [String]) throws(BenchmarkError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            guard let value = rest.popFirst(), !value.isEmpty else {
                throw BenchmarkError(.usage, "\(word) needs a value")
            }
            switch word {
            case "--faultline": faultline = value
            case "--store": store = value
            case "--workloads": workloads = value.split(separator: " ").map(String.init)
            case "--peers": peers = value.split(separator: " ").map(String.init)
            case "--n": n = value
            case "--rounds":
                guard let count = Int(value), count > 0 else {
                    throw BenchmarkError(.usage, "--rounds needs a number above 0, not \(value)")
                }
                roundCount = count
            default: throw BenchmarkError(.usage, "unknown argument \(word)")
            }
        }
        guard !faultline.isEmpty, !store.isEmpty else {
            throw BenchmarkError(.usage, "--faultline and --store are missing")
        }
        let known = PeerList.all.map(\.name)
        if let name = peers?.first(where: { !known.contains($0) }) {
            throw BenchmarkError(.usage, "there is no peer \(name); there are: \(known.joined(separator: " "))")
        }
    }
}
