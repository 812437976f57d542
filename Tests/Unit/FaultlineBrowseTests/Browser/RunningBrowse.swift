#if Browse
import Foundation

/// A process of `faultline browse`, which ends with this object.
final class RunningBrowse {
    private let process = Process()
    /// The address of the first page.
    let address: String

    init(_ tool: String, store: String) throws {
        let output = Pipe()
        process.executableURL = URL(filePath: tool)
        process.arguments = ["browse", store]
        process.standardOutput = output
        try process.run()
        var text = ""
        while !text.contains("\n") {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw Chromium.Failure(description: "The tool has ended: \(text)") }
            text += String(decoding: data, as: UTF8.self)
        }
        address = String(text.prefix { $0 != "\n" })
    }

    deinit { process.terminate() }

    /// Asks the process to end, and waits for its status.
    func end() -> Int32 {
        process.interrupt()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
#endif
