/// How many instructions each operation may take: lines of a number and a name; `#` begins a remark.
package struct InstructionBounds: Sendable, Equatable {
    package private(set) var bounds: [String: Int] = [:]

    package init() {}

    /// - Throws: `BenchmarkError.Code.usage` for a line that is none.
    package init(_ text: String) throws(BenchmarkError) {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let bound = Int(parts[0]), bound > 0 else {
                throw BenchmarkError(.usage, "not a bound: \(line)")
            }
            bounds[String(parts[1])] = bound
        }
    }

    /// Instructions of one operation, from two runs of which the longer did `count` operations more.
    package static func perOperation(shorter: Int, longer: Int, count: Int) -> Int {
        Int((Double(longer - shorter) / Double(count)).rounded())
    }

    /// The bound that is recorded for what was measured: 15 % above.
    package static func bound(for instructions: Int) -> Int {
        Int((Double(instructions) * 1.15).rounded(.up))
    }

    /// Whether an operation takes about as much among many as among few: 10 % more or less at most.
    package static func isFlat(from few: Int, to many: Int) -> Bool {
        10 * abs(many - few) <= few
    }

    /// The number that callgrind prints behind `Collected :`.
    ///
    /// - Throws: `BenchmarkError.Code.wrongResult` where it printed none.
    package static func collected(in output: String) throws(BenchmarkError) -> Int {
        for line in output.split(separator: "\n") where line.contains("Collected :") {
            if let number = line.split(separator: " ").last.flatMap({ Int($0) }) { return number }
        }
        throw BenchmarkError(.wrongResult, "valgrind counted nothing:\n\(output)")
    }
}
