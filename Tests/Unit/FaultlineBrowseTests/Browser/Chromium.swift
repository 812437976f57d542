#if Browse
import Foundation

/// A headless Chromium, driven by the DevTools protocol over pipes.
final class Chromium {
    /// Why the browser did not do as it was asked.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var received = Data()
    private var number = 0
    private var session = ""
    /// Pages that were loaded so far.
    private var loadCount = 0

    /// Starts the browser with an empty page.
    ///
    /// - Parameters:
    ///   - path: The program.
    ///   - profile: An empty directory for its files.
    /// - Throws: `Failure` if it does not start.
    init(_ path: String, profile: String) throws {
        process.executableURL = URL(filePath: "/bin/sh")
        // The protocol uses the descriptors 3 and 4. Root needs --no-sandbox.
        process.arguments = [
            "-c",
            "exec \"$0\" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --hide-scrollbars --user-data-dir=\"$1\" --window-size=1280,900 --remote-debugging-pipe 3<&0 4>&1 </dev/null >/dev/null 2>&1",
            path, profile,
        ]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let target = try send("Target.createTarget", ["url": "about:blank"])
        let attached = try send(
            "Target.attachToTarget", ["targetId": target["targetId"] as? String ?? "", "flatten": true])
        session = attached["sessionId"] as? String ?? ""
        _ = try send("Page.enable")
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    /// Sends a command, and waits for its result.
    @discardableResult
    func send(_ method: String, _ parameters: [String: Any] = [:]) throws -> [String: Any] {
        number += 1
        var message: [String: Any] = ["id": number, "method": method, "params": parameters]
        if !session.isEmpty { message["sessionId"] = session }
        try input.fileHandleForWriting.write(contentsOf: JSONSerialization.data(withJSONObject: message) + [0])
        while true {
            let answer = try next()
            guard answer["id"] as? Int == number else { continue }
            if let error = answer["error"] { throw Failure(description: "\(method): \(error)") }
            return answer["result"] as? [String: Any] ?? [:]
        }
    }

    /// The next message of the browser.
    private func next() throws -> [String: Any] {
        while true {
            if let end = received.firstIndex(of: 0) {
                let bytes = received[received.startIndex..<end]
                received = received[(end + 1)...]
                let message = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] ?? [:]
                if message["method"] as? String == "Page.loadEventFired" { loadCount += 1 }
                return message
            }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw Failure(description: "The browser has ended.") }
            received.append(data)
        }
    }

    /// Opens an address, and waits until the page with its pictures is loaded.
    func open(_ address: String) throws {
        let before = loadCount
        let result = try send("Page.navigate", ["url": address])
        if let error = result["errorText"] as? String { throw Failure(description: "\(address): \(error)") }
        while loadCount == before { _ = try next() }
    }

    /// Does something that leads to another page, and waits for it, and for the one that it loads instead of itself.
    func follow(_ expression: String) throws {
        var before = loadCount
        _ = try value(expression)
        while true {
            while loadCount == before { _ = try next() }
            before = loadCount
            let waits = try value("document.querySelector('meta[http-equiv=refresh]') != null") as? Bool
            if waits != true { return }
        }
    }

    /// The value of an expression in the page.
    func value(_ expression: String) throws -> Any? {
        let result = try send("Runtime.evaluate", ["expression": expression, "returnByValue": true])
        if let fault = result["exceptionDetails"] { throw Failure(description: "\(expression): \(fault)") }
        return (result["result"] as? [String: Any])?["value"]
    }

    /// Chooses the colours that the page is asked for.
    func setColours(dark: Bool) throws {
        try send(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": dark ? "dark" : "light"]]])
    }

    /// Keeps a picture of the page.
    func photograph(to path: String) throws {
        let result = try send("Page.captureScreenshot", ["format": "png", "captureBeyondViewport": false])
        try Data(base64Encoded: result["data"] as? String ?? "")?.write(to: URL(filePath: path))
    }
}
#endif
