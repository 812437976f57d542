import FaultlineCommands
import FaultlineLog
import FaultlineRepair

extension Diagnosis {
    private static let shownCountMax = 5

    /// The diagnosis for people: a line for each fact, and two for each finding.
    func text(isStyled: Bool) -> String {
        let verdict =
            findings.isEmpty
            ? "well" : findings.count == 1 ? "1 finding" : "\(Quantity.count(findings.count)) findings"
        let title = "\(summary.store): \(verdict)"
        var lines = [isStyled ? "\u{1B}[1m\(title)\u{1B}[0m" : title]
        for (name, fact) in facts {
            lines.append(name + String(repeating: " ", count: Self.nameWidth - name.count) + fact)
        }
        lines += findings.prefix(Self.shownCountMax).map(\.text)
        if findings.count > Self.shownCountMax {
            lines.append(
                "\(Quantity.count(findings.count - Self.shownCountMax)) more; --json prints them all, and `faultline verify` reads everything"
            )
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static let nameWidth = 12

    private var facts: [(name: String, fact: String)] {
        [
            ("schema", schemaFact), ("size", sizeFact), ("writer", writerFact), ("closed", closedFact),
            ("migration", migrationFact), ("quarantine", quarantineFact), ("checked", checkedFact),
        ]
    }

    private var objectCount: Int { summary.entities.reduce(0) { $0 + $1.objectCount } }
    private var segmentByteCount: UInt64 { summary.usage.segments.reduce(0) { $0 + $1.byteCount } }
    private var liveShare: Double? {
        liveByteCount.map { segmentByteCount == 0 ? 1 : Double($0) / Double(segmentByteCount) }
    }

    private var schemaFact: String {
        "version \(summary.schemaVersion), \(Quantity.count(summary.entities.count)) entities, \(Quantity.count(objectCount)) objects, transaction \(Quantity.count(Int(clamping: summary.sequence)))"
    }

    private var sizeFact: String {
        let live = liveShare.map { ", \(Quantity.share($0)) of the segments live" } ?? ""
        let free = summary.freeByteCount.map { ", \(Quantity.bytes(Int(clamping: $0))) free on the file system" } ?? ""
        return Quantity.bytes(Int(clamping: summary.usage.byteCount)) + live + free
    }

    private var writerFact: String {
        summary.writer.map { "\(WriterText.text($0)); its health knows its pins" }
            ?? "none, so nothing is pinned"
    }

    private var closedFact: String {
        if summary.writer != nil { return "no, it is open" }
        if summary.opening.wasClean { return "cleanly" }
        let bytes = Quantity.bytes(Int(clamping: summary.opening.replayedByteCount))
        let count = Quantity.count(summary.opening.replayedTransactionCount)
        return
            "not cleanly: the next opening reads \(bytes) of log again, \(count) transactions; nothing durable is lost"
    }

    private var migrationFact: String {
        let state =
            migrationTarget.map { "to version \($0) " + (summary.writer == nil ? "stopped" : "under way") }
            ?? (summary.isMigrating ? "none; the next opening removes the remains of a dry run" : "none under way")
        guard let kept = summary.kept else { return state }
        let date = DateText.text(secondsSince1970: kept.untilNanoseconds / 1_000_000_000)
        let bytes = Quantity.bytes(Int(clamping: kept.heldByteCount))
        return
            "\(state); `faultline rollback` returns to the state before the newest until \(date), which holds \(bytes)"
    }

    private var quarantineFact: String {
        let files = summary.usage.quarantinedFileCount
        if quarantinedCount == 0, files == 0 { return "empty" }
        return "objects: \(Quantity.count(quarantinedCount)), files: \(Quantity.count(files))"
    }

    private var checkedFact: String {
        let files = check.comparesFiles ? "the list of files, " : ""
        return
            "\(files)all tables, \(Quantity.count(check.readCount)) of \(Quantity.count(check.recordCount)) records; `faultline verify` reads everything"
    }

    /// The diagnosis as JSON.
    var line: JSONLine {
        var line = JSONLine()
        line.add("doctor", findings.isEmpty ? "well" : "findings")
        line.add("store", summary.store)
        line.add("schema_version", summary.schemaVersion)
        line.add("entities", summary.entities.count)
        line.add("objects", objectCount)
        line.add("sequence", Int(clamping: summary.sequence))
        line.add("bytes", Int(clamping: summary.usage.byteCount))
        if let liveShare { line.add("live_share", liveShare) } else { line.addNull("live_share") }
        if let free = summary.freeByteCount { line.add("free_bytes", Int(clamping: free)) }
        if let writer = summary.writer { line.add("writer", writer) } else { line.addNull("writer") }
        line.add("clean", summary.opening.wasClean)
        if let migrationTarget { line.add("migrating_to", migrationTarget) } else { line.addNull("migrating_to") }
        if let kept = summary.kept {
            var keptLine = JSONLine()
            keptLine.add("bytes", Int(clamping: kept.heldByteCount))
            keptLine.add("until", Int(kept.untilNanoseconds / 1_000_000_000))
            line.add("grace_period", keptLine)
        } else {
            line.addNull("grace_period")
        }
        line.add("quarantined_objects", quarantinedCount)
        line.add("quarantined_files", summary.usage.quarantinedFileCount)
        line.add("records", check.recordCount)
        line.add("records_read", check.readCount)
        line.add("findings", findings.map(\.line))
        return line
    }
}
