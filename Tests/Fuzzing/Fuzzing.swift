import FuzzSimulation
import Glibc

/// Looks for bytes that a decoder takes in the wrong way, led by the coverage of libFuzzer.
///
/// Without `--target` each target gets processes of its own.
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

    /// Writes a line for people, on the standard error.
    static func note(_ text: String) {
        let line = text + "\n"
        _ = write(2, line, line.utf8.count)
    }
}

/// The trial that libFuzzer's calls go to; set once, before the first.
// Safe because it is written before libFuzzer starts, which calls on one thread.
nonisolated(unsafe) private var trial = FuzzTrial(.identity, repairsChecksums: false)

/// libFuzzer's way in.
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
    /// Gives this process to libFuzzer.
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
