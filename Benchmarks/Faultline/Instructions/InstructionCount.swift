import BenchmarkKit
import Foundation

/// Counts the instructions of the hot operations and compares them with recorded bounds.
///
/// Valgrind counts instructions, with the same result on every machine under any load. The count of a run with twice as
/// many operations, minus that of a run with the operations once, is their cost without the preparation.
struct InstructionCount {
    /// A copy of this program without debug information, which valgrind cannot read all of.
    private let program: String
    private let boundsFile: String
    /// Whether to record new bounds.
    private let isRecording: Bool

    static let usage = "usage: instructions PROGRAM BOUNDS [record] | operation NAME COUNT"

    /// - Throws: `BenchmarkError.Code.usage`.
    init(_ words: [String]) throws(BenchmarkError) {
        guard words.count == 2 || words.count == 3 && words[2] == "record" else {
            throw BenchmarkError(.usage, Self.usage)
        }
        program = words[0]
        boundsFile = words[1]
        isRecording = words.count == 3
    }

    /// Prints a line for each operation.
    ///
    /// - Throws: `.wrongResult` at the end, with the operations that exceed their bound or have none, and those that
    ///   cost more among many operations than among few.
    func run() throws {
        let text = isRecording ? "" : try String(contentsOfFile: boundsFile, encoding: .utf8)
        let bounds = try InstructionBounds(text)
        var recorded = "# Instructions an operation may take: 15 % above the measured count. `make instructions`.\n"
        var failed: [String] = []
        for operation in HotOperation.all {
            let instructions = try perOperation(operation, operation.count)
            let bound = isRecording ? InstructionBounds.bound(for: instructions) : bounds.bounds[operation.name] ?? 0
            var fields = #""operation":"\#(operation.name)","instructions":\#(instructions),"bound":\#(bound)"#
            if instructions > bound { failed.append(operation.name) }
            if let count = operation.largerCount {
                let among = try perOperation(operation, count)
                fields += #","among":\#(count),"instructions_among":\#(among)"#
                if !InstructionBounds.isFlat(from: instructions, to: among) {
                    failed.append("\(operation.name) among \(count)")
                }
            }
            print("{\(fields)}")
            // A line takes seconds, so it is printed at once.
            fflush(nil)
            recorded += "\(bound) \(operation.name)\n"
        }
        if isRecording { try recorded.write(toFile: boundsFile, atomically: true, encoding: .utf8) }
        guard failed.isEmpty else {
            throw BenchmarkError(.wrongResult, "over the bound: \(failed.joined(separator: ", "))")
        }
    }

    /// Instructions of one operation, from runs of `count` and twice as many.
    private func perOperation(_ operation: HotOperation, _ count: Int) throws -> Int {
        InstructionBounds.perOperation(
            shorter: try self.count(operation, count),
            longer: try self.count(operation, 2 * count),
            count: count
        )
    }

    /// Instructions of a process that does `count` operations.
    private func count(_ operation: HotOperation, _ count: Int) throws -> Int {
        // Hashes that differ between runs would cause other collisions.
        let words = [
            "SWIFT_DETERMINISTIC_HASHING=1", "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
            "--log-fd=1", program, "operation", operation.name, String(count),
        ]
        return try InstructionBounds.collected(in: ChildProcess("/usr/bin/env", words, readsOutput: true).finish())
    }

    /// The work of the counted process.
    static func runOperation(_ words: [String]) throws {
        guard words.count == 2, let count = Int(words[1]), count > 0,
            let operation = HotOperation.all.first(where: { $0.name == words[0] })
        else { throw BenchmarkError(.usage, usage) }
        try operation.run(count)
    }
}
