import BenchmarkKit
import Glibc

/// Faultline's own benchmark: one workload a process, one JSON line a workload.
@main
struct FaultlineBenchmarks {
    static func main() {
        do {
            let words = Array(CommandLine.arguments.dropFirst())
            switch words.first {
            case "instructions": return try InstructionCount(Array(words.dropFirst())).run()
            case "pages": return try PageTimes(Array(words.dropFirst())).run()
            case "operation": return try InstructionCount.runOperation(Array(words.dropFirst()))
            default: break
            }
            let arguments = try Arguments(words)
            if let output = try Runner(workloads).run(arguments) { print(output) }
        } catch let error as BenchmarkError {
            fail("\(error)", status: error.code == .usage ? 2 : 1)
        } catch {
            fail("\(error)", status: 1)
        }
    }

    /// All workloads, in the order in which they run.
    static let workloads: [Workload] =
        [
            .data, .w1, .w2, .w2Eight, .w3, .w4Count, .w4Sum, .w5Email, .w5First, .w5Sort, .w5Index,
            .w5SortIndexed, .w6, .w7, .w8Insert, .w8List, .w8Read,
            .w10Clean, .w10Killed, .w11Department, .w11Hop, .append, .findOrCreate, .w12, .w12Compact, .faultList,
            .faultTouch, .migrateLight, .w9a,
            .migrateStream, .migrateStreamAlone, .w9b, .migratePolicy, .migrateMade, .migrateMapping,
            .migrateValues, .migrateValuesPolicy, .migrateMergeFew, .migrateMerge, .migrateStaged, .w9c, .w9cData,
            .searchInsert, .searchBusy,
        ] + Workload.searches

    private static func fail(_ message: String, status: Int32) -> Never {
        let text = "benchmark: \(message)\n"
        _ = write(2, text, text.utf8.count)
        exit(status)
    }
}
