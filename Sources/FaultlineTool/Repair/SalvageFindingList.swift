import FaultlineCommands
import FaultlineLog
import FaultlineRepair

/// Prints the findings of a salvage as they occur: all of them as JSON, the first of each kind for people.
final class SalvageFindingList {
    private static let shownCountMax = 20

    private let asJSON: Bool
    private var counts: [String: Int] = [:]

    init(asJSON: Bool) {
        self.asJSON = asJSON
    }

    /// Prints one.
    func add(_ finding: SalvageFinding) {
        let line = Line(finding)
        counts[line.kind, default: 0] += 1
        if asJSON {
            Terminal.output.write(line.json.line + "\n")
        } else if counts[line.kind, default: 0] <= Self.shownCountMax {
            Terminal.output.write(line.text + "\n")
        }
    }

    /// Says how many were not shown.
    func finish() {
        guard !asJSON else { return }
        for (kind, count) in counts.sorted(by: { $0.key < $1.key }) where count > Self.shownCountMax {
            Terminal.output.write(
                "\(kind): \(Quantity.count(count - Self.shownCountMax)) more; --json prints them all\n")
        }
    }

    /// A finding as text.
    private struct Line {
        let kind: String
        let text: String
        let json: JSONLine

        init(_ finding: SalvageFinding) {
            var json = JSONLine()
            switch finding {
            case .lostRange(let range):
                kind = "lost range"
                text = "\(kind): \(range.reason) [\(range.path), offset \(range.offset), \(range.byteCount) bytes]"
                json.add("kind", kind)
                json.add("message", range.reason)
                json.add("path", range.path)
                json.add("offset", Int(clamping: range.offset))
                json.add("bytes", Int(clamping: range.byteCount))
            case .lostBlob(let blob):
                kind = "lost blob"
                let owner = blob.owner.map { ", of object \($0.id) of table \($0.table.rawValue)" } ?? ""
                let place = blob.path.map { " [\($0)\(blob.offset.map { ", offset \($0)" } ?? "")]" } ?? ""
                text = "\(kind): blob \(blob.id), \(blob.byteCount) bytes\(owner): \(blob.reason)\(place)"
                json.add("kind", kind)
                json.add("message", blob.reason)
                json.add("blob", Int(clamping: blob.id))
                json.add("bytes", Int(clamping: blob.byteCount))
                if let owner = blob.owner {
                    json.add("table", Int(owner.table.rawValue))
                    json.add("object", Int(clamping: owner.id))
                }
                if let path = blob.path { json.add("path", path) }
                if let offset = blob.offset { json.add("offset", Int(clamping: offset)) }
            case .lostObject(let table, let id):
                kind = "lost object"
                text = "\(kind): object \(id) of table \(table.rawValue) has no version that verifies"
                json.add("kind", kind)
                json.add("table", Int(table.rawValue))
                json.add("object", Int(clamping: id))
            case .olderVersion(let table, let id):
                kind = "older version"
                text = "\(kind): of object \(id) of table \(table.rawValue), the newest does not verify"
                json.add("kind", kind)
                json.add("table", Int(table.rawValue))
                json.add("object", Int(clamping: id))
            case .remark(let remark):
                kind = "remark"
                text = "\(kind): \(remark.text) [\(remark.path)]"
                json.add("kind", kind)
                json.add("message", remark.text)
                json.add("path", remark.path)
            }
            self.json = json
        }
    }
}
