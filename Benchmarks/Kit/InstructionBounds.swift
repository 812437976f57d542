/// The largest number of instructions of each operation: lines of a number and a name; `#` begins a remark.
package struct InstructionBounds: Sendable, Equatable {
    package private(set) var bounds: [String: Int] = [:]

    package init() {}

    /// - Throws: `BenchmarkError.Code.usage` for an invalid line.
    package init(_ text: String) throws(BenchmarkError) {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let bound = Int(parts[0]), bound > 0 else {
                throw BenchmarkError(.usage, "not a bound: \(line)")
            }
            bounds[String(parts[1])] = bound
        }
    }

    /// Instructions of one operation, from two runs, of which the longer has `count` operations more.
    package static func perOperation(shorter: Int, longer: Int, count: Int) -> Int {
        Int((Double(longer - shorter) / Double(count)).rounded())
    }

    /// The recorded bound for a measurement: 15 % above it.
    package static func bound(for instructions: Int) -> Int {
        Int((Double(instructions) * 1.15).rounded(.up))
    }

    /// Whether an operation costs about as much among many as among few: at most 10 % more or less.
    package static func isFlat(from few: Int, to many: Int) -> Bool {
        10 * abs(many - few) <= few
    }

    /// The number after `Collected :` in callgrind's output.
    ///
    /// - Throws: `BenchmarkError.Code.wrongResult` if there is none.
    package static func collected(in output: String) throws(BenchmarkError) -> Int {
        for line in output.split(separator: "\n") where line.contains("Collected :") {
            if let number = line.split(separator: " ").last.flatMap({ Int($0) }) { return number }
        }
        throw BenchmarkError(.wrongResult, "valgrind counted nothing:\n\(output)")
    }
}
