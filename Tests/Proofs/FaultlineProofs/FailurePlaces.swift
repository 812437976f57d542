import Foundation

/// The places of the log, and of its repair, that call the disk, each by the operation that it names in errors, as in its source.
struct FailurePlaces {
    /// Places that no fault can reach, with the reason.
    static let unreachable = [
        "reading a record's header": "a location tells the size of every record that the log may write"
    ]

    /// The operations named in the sources; none if these are not available.
    let all: Set<String>

    init() {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Sources")
        var found: Set<String> = []
        for target in ["FaultlineLog", "FaultlineRepair"] {
            let files = FileManager.default.enumerator(
                at: sources.appending(path: target), includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                guard file.pathExtension == "swift", let text = try? String(contentsOf: file, encoding: .utf8) else {
                    continue
                }
                for match in text.matches(of: /(?:onDisk\(\s*|doing: |, )"([a-z][^"\\]*ing [^"\\]*)"/) {
                    found.insert(String(match.1))
                }
            }
        }
        all = found
    }
}
