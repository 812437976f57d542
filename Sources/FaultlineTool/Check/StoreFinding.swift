import FaultlineCommands
import FaultlineLog
import FaultlineRepair

/// A finding of a store's check: in the log, or in the meaning of the rows.
struct StoreFinding: Sendable, CustomStringConvertible {
    let kind: Finding.Kind
    /// The finding, in a sentence.
    let message: String
    var path: String?
    /// The place in the file, in bytes from its start.
    var offset: UInt64?
    var object: RecordID?

    init(_ finding: Finding) {
        kind = finding.kind
        message = finding.message
        path = finding.path
        offset = finding.offset
        object = finding.id
    }

    init(_ kind: Finding.Kind, _ message: String, object: RecordID?) {
        self.kind = kind
        self.message = message
        self.object = object
    }

    init(_ error: LogError) {
        kind = .damage
        message = error.fault
        path = error.path
        offset = error.offset
    }

    /// Whether a checkpoint or a run is damaged, which is made again from the segments.
    var isDerivedDamage: Bool {
        let name = path?.split(separator: "/").last ?? ""
        return kind == .damage && (name.hasPrefix("t-") || name.hasPrefix("r-"))
    }

    /// The remedy.
    var remedy: String {
        switch kind {
        case .leftover:
            return "Harmless. The next opening for writing removes the file, or sets it aside in quarantine/."
        case .contradiction:
            return
                "No disk does this alone: please report it. `faultline salvage` makes tables and indexes again from the rows."
        case .damage:
            return isDerivedDamage ? LogError.derivedRemedy : LogError.damageRemedy
        }
    }

    var description: String {
        "\(kind.rawValue): \(message)" + (path.map { " [\($0)\(offset.map { ", offset \($0)" } ?? "")]" } ?? "")
    }

    /// The finding as JSON.
    var json: JSONLine {
        var line = JSONLine()
        line.add("kind", kind.rawValue)
        line.add("message", message)
        if let path { line.add("path", path) }
        if let offset { line.add("offset", Int(clamping: offset)) }
        if let object { line.add("object", Int(clamping: object)) }
        line.add("remedy", remedy)
        return line
    }
}
