import FaultlineLog

/// Something that the check of a store found: in the log, or in what the rows mean.
struct StoreFinding: Sendable, CustomStringConvertible {
    /// `damage`, `contradiction` or `leftover`.
    let kind: String
    /// What was found, in a sentence.
    let message: String
    var path: String?
    /// In the file, in bytes from its start.
    var offset: UInt64?
    var object: RecordID?

    init(_ finding: Finding) {
        kind = finding.kind.rawValue
        message = finding.message
        path = finding.path
        offset = finding.offset
        object = finding.id
    }

    init(_ kind: Finding.Kind, _ message: String, object: RecordID?) {
        self.kind = kind.rawValue
        self.message = message
        self.object = object
    }

    init(_ error: LogError) {
        kind = Finding.Kind.damage.rawValue
        message = error.message
        path = error.path
        offset = error.offset
    }

    var description: String {
        "\(kind): \(message)" + (path.map { " [\($0)\(offset.map { ", offset \($0)" } ?? "")]" } ?? "")
    }

    /// Prints the finding on a line of its own.
    func print(asJSON: Bool) {
        guard asJSON else { return Terminal.output.write("\(self)\n") }
        var line = JSONLine()
        line.add("kind", kind)
        line.add("message", message)
        if let path { line.add("path", path) }
        if let offset { line.add("offset", Int(clamping: offset)) }
        if let object { line.add("object", Int(clamping: object)) }
        Terminal.output.write(line.line + "\n")
    }
}
