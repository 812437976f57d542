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
}
