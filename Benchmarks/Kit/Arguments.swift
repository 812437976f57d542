/// The command line: `--workload NAME --store FOLDER [--n COUNT] [--budget MIB] [--prepare | --write]`, or
/// `--list`.
package struct Arguments: Sendable, Equatable {
    package var workload = ""
    /// The folder in which stores are prepared and kept.
    package var store = ""
    /// Objects; nil for the workload's own number.
    package var n: Int?
    /// MiB: the migration's ceiling, or the cache budget; nil for the default.
    package var budgetMiB: Int?
    /// Whether to make only the workload's starting store.
    package var isPreparing = false
    /// Whether to write to the prepared store until this process is killed.
    package var isWriting = false
    /// Whether to print the names of all workloads.
    package var isListing = false

    package static let usage =
        "usage: --workload NAME --store FOLDER [--n COUNT] [--budget MIB] [--prepare | --write] | --list"

    /// Reads the words after the command's name.
    ///
    /// - Parameter words: Numbers may end with `k` or `M`.
    /// - Throws: `BenchmarkError.Code.usage`, with the wrong word.
    package init(_ words: [String]) throws(BenchmarkError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--workload": workload = try Self.value(of: word, &rest)
            case "--store": store = try Self.value(of: word, &rest)
            case "--n": n = try Self.number(of: word, &rest)
            case "--budget": budgetMiB = try Self.number(of: word, &rest)
            case "--prepare": isPreparing = true
            case "--write": isWriting = true
            case "--list": isListing = true
            default: throw BenchmarkError(.usage, "unknown argument \(word); \(Self.usage)")
            }
        }
        guard !isListing else { return }
        for (name, value) in [("--workload", workload), ("--store", store)] where value.isEmpty {
            throw BenchmarkError(.usage, "\(name) is missing; \(Self.usage)")
        }
    }

    private static func value(of name: String, _ rest: inout ArraySlice<String>) throws(BenchmarkError) -> String {
        guard let value = rest.popFirst(), !value.isEmpty, !value.hasPrefix("--") else {
            throw BenchmarkError(.usage, "\(name) needs a value; \(usage)")
        }
        return value
    }

    private static func number(of name: String, _ rest: inout ArraySlice<String>) throws(BenchmarkError) -> Int {
        let text = try value(of: name, &rest)
        let factor = text.hasSuffix("k") ? 1000 : text.hasSuffix("M") ? 1_000_000 : 1
        guard let number = Int(factor == 1 ? text[...] : text.dropLast()), number > 0 else {
            throw BenchmarkError(.usage, "\(name) needs a number above 0, not \(text)")
        }
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        guard !overflow else { throw BenchmarkError(.usage, "\(name): \(text) is too large") }
        return product
    }
}
