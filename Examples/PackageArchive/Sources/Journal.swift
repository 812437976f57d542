import Glibc

/// The counts that a run of the demo has acknowledged so far, in a small file beside the store.
///
/// Each line is a key and a number; if a key has several lines, the last one counts. A line is on the disk before `set`
/// returns, so the store must have every count in the journal after any kill. A last line without its end is ignored.
package final class Journal {
    private let path: String
    private let descriptor: Int32
    private var numbers: [String: Int] = [:]

    /// Opens the journal at `path`, or makes an empty one.
    package init(_ path: String) throws(SourceError) {
        self.path = path
        let text = String(decoding: LargestFiles.contents(of: path) ?? [], as: UTF8.self)
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let torn = lines.popLast() ?? ""
        for line in lines {
            let words = line.split(separator: " ")
            guard words.count == 2, let number = Int(words[1]) else { continue }
            numbers[String(words[0])] = number
        }
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw SourceError(.cannotOpen, path: path, errno: errno) }
        if !torn.isEmpty { try append("\n") }
    }

    deinit { close(descriptor) }

    /// The number of a key; nil if it was never set.
    package subscript(key: String) -> Int? { numbers[key] }

    /// Sets numbers, durably.
    package func set(_ pairs: KeyValuePairs<String, Int>) throws(SourceError) {
        var text = ""
        for (key, number) in pairs {
            numbers[key] = number
            text += "\(key) \(number)\n"
        }
        try append(text)
    }

    private func append(_ text: String) throws(SourceError) {
        let bytes = Array(text.utf8)
        let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard count == bytes.count, fdatasync(descriptor) == 0 else {
            throw SourceError(.cannotWrite, path: path, errno: errno)
        }
    }
}
