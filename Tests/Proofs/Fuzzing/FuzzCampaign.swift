import Dispatch
import FaultlineDisk
import FaultlineTestSupport
import Foundation
import FuzzSimulation
import Synchronization

/// Fuzzes all targets, each for a fixed time, with and without repaired checksums, and prints one JSON line for each
/// run.
struct FuzzCampaign {
    /// The largest size of one allocation, and of all memory, in MiB.
    ///
    /// Exceeding it shows that a size was trusted.
    private static func memoryLimits(_ target: FuzzTarget) -> [String] {
        ["-malloc_limit_mb=\(FuzzTarget.untrusted.contains(target) ? 1 : 512)", "-rss_limit_mb=3000"]
    }
    /// The seconds after which an input counts as hanging.
    private static let inputSecondCountMax = 20

    private var seconds = 10
    private var target: FuzzTarget?
    private var repairsChecksums = false
    /// An input to run once, without fuzzing.
    private var input: String?
    /// The folder for corpora and crashes.
    private var folder = "."

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word == "--repaired" {
                repairsChecksums = true
                continue
            }
            guard let value = rest.popFirst() else { throw WrongUsage(message: "\(word) needs a value") }
            switch word {
            case "--seconds":
                guard let number = Int(value), number > 0 else { throw WrongUsage(message: "seconds are a number") }
                seconds = number
            case "--target":
                guard let found = FuzzTarget(rawValue: value) else {
                    throw WrongUsage(message: "targets: \(FuzzTarget.allCases.map(\.rawValue))")
                }
                target = found
            case "--input": input = value
            case "--folder": folder = value
            default: throw WrongUsage(message: "unknown argument \(word)")
            }
        }
    }

    func run() throws -> Int32 {
        guard let target else { return try runAll() }
        let trial = FuzzTrial(target, repairsChecksums: repairsChecksums)
        if let input { return Fuzzing.explore(trial, [input]) }
        let corpus = folder + "/corpus"
        try FileManager.default.createDirectory(atPath: corpus, withIntermediateDirectories: true)
        var longest = 0
        for (number, seed) in try trial.seeds().enumerated() {
            try Data(seed).write(to: URL(filePath: "\(corpus)/seed-\(number)"))
            longest = max(longest, seed.count)
        }
        return Fuzzing.explore(
            trial,
            Self.memoryLimits(target) + [
                "-max_total_time=\(seconds)", "-timeout=\(Self.inputSecondCountMax)", "-max_len=\(longest + 4_096)",
                "-len_control=0", "-print_final_stats=1", "-artifact_prefix=\(folder)/", corpus,
            ])
    }

    private func runAll() throws -> Int32 {
        let plans = FuzzTarget.allCases.flatMap { target in
            (target.hasChecksums ? [false, true] : [false]).map { (target, $0) }
        }
        let crashes = Guarded(0)
        let (seconds, folder) = (seconds, folder)
        DispatchQueue.concurrentPerform(iterations: plans.count) { place in
            let (target, repairsChecksums) = plans[place]
            let name = target.rawValue + (repairsChecksums ? "-repaired" : "")
            let result = Self.runProcess(target, repairsChecksums, seconds, "\(folder)/\(name)")
            crashes.withLock { crashes in
                if result.status != 0 { crashes += 1 }
                if result.status != 0 { Fuzzing.note("\(name): \(result.lastLines)") }
                print(
                    """
                    {"target":"\(name)","executions":\(result.executionCount),"seconds":\(seconds),\
                    "coverage":\(result.coverage),"corpus":\(result.corpusCount),\
                    "crashes":\(result.status == 0 ? 0 : 1)}
                    """)
                fflush(nil)
            }
        }
        // Foundation keeps caches allocated, so a normal exit would report them as leaks.
        _exit(crashes.withLock { $0 } == 0 ? 0 : 1)
    }

    private struct Result {
        var status: Int32 = -1
        var executionCount = 0
        var coverage = 0
        var corpusCount = 0
        var lastLines = ""
    }

    /// Writes the output of libFuzzer, which goes to the standard error, to a file.
    private static func runProcess(
        _ target: FuzzTarget, _ repairsChecksums: Bool, _ seconds: Int, _ folder: String
    ) -> Result {
        var result = Result()
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let log = URL(filePath: folder + "/log")
            try Data().write(to: log)
            let process = Process()
            process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = ["--target", target.rawValue, "--seconds", "\(seconds)", "--folder", folder]
            if repairsChecksums { process.arguments?.append("--repaired") }
            // Leaked memory is not tested here.
            process.environment = [
                "ASAN_OPTIONS": "detect_leaks=0:quarantine_size_mb=16", "SWIFT_BACKTRACE": "enable=no",
            ]
            let output = try FileHandle(forWritingTo: log)
            process.standardError = output
            process.standardOutput = output
            try process.run()
            process.waitUntilExit()
            result.status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
            let lines = String(decoding: try Data(contentsOf: log), as: UTF8.self).split(separator: "\n")
            for line in lines {
                let words = line.split(separator: " ")
                if let place = words.firstIndex(of: "cov:"), let number = Int(words[place + 1]) {
                    result.coverage = number
                    result.executionCount = Int(words[0].dropFirst()) ?? result.executionCount
                }
                if let place = words.firstIndex(of: "corp:") {
                    result.corpusCount = words[place + 1].split(separator: "/").first.flatMap { Int($0) } ?? 0
                }
                if words.first == "stat::number_of_executed_units:" { result.executionCount = Int(words[1]) ?? 0 }
            }
            result.lastLines = lines.filter {
                $0.contains("violation") || $0.contains("ERROR") || $0.contains("Fatal") || $0.contains("Test unit")
            }.joined(separator: "\n  ")
        } catch {
            result.lastLines = "\(error)"
        }
        return result
    }
}

/// An error for an invalid command line.
struct WrongUsage: Error {
    let message: String
}
