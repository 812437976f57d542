import FuzzSimulation
import Glibc

/// Fuzzes the decoders, guided by the coverage that libFuzzer measures.
///
/// Without `--target`, each target is fuzzed in its own processes.
@main
struct Fuzzing {
    static func main() {
        do {
            let campaign = try FuzzCampaign(Array(CommandLine.arguments.dropFirst()))
            exit(try campaign.run())
        } catch {
            note("Fuzzing: \(error)")
            exit(2)
        }
    }

    /// Writes a line to the standard error.
    static func note(_ text: String) {
        let line = text + "\n"
        _ = write(2, line, line.utf8.count)
    }
}

/// The trial that libFuzzer calls.
///
/// It is set once, before the first call.
// Safe because it is written before libFuzzer starts, and libFuzzer uses one thread.
nonisolated(unsafe) private var trial = FuzzTrial(.identity, repairsChecksums: false)

/// The entry point for libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try trial.run(Array(UnsafeBufferPointer(start: start, count: count)))
    } catch {
        Fuzzing.note("violation: \(error)")
        abort()
    }
    return 0
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

extension Fuzzing {
    /// Runs libFuzzer in this process.
    static func explore(_ chosen: FuzzTrial, _ arguments: [String]) -> CInt {
        trial = chosen
        var words: [UnsafeMutablePointer<CChar>?] = (["Fuzzing"] + arguments).map { strdup($0) }
        words.append(nil)
        var count = CInt(words.count - 1)
        return words.withUnsafeMutableBufferPointer { buffer in
            guard var start = buffer.baseAddress else { return 2 }
            return runDriver(&count, &start, testOneInput)
        }
    }
}
