import FaultlineCommands
import FaultlineLog
import FaultlineStore

/// The result of a compaction, for people and for scripts.
struct CompactionOutcome {
    let report: CompactionReport
    /// Objects that were written in their new form; nil if that was not requested, or failed.
    let rewritten: RowRewriting.Report?
    let before: LogUsage
    let after: LogUsage
    let seconds: Double

    /// Prints it.
    func print(of store: String, asJSON: Bool) {
        if asJSON {
            Terminal.output.write(line.line + "\n")
            return
        }
        for damage in report.damage {
            Terminal.output.write(
                """
                \(damage.path), offset \(damage.offset): does not verify; the segment is kept
                  -> \(LogError.damageRemedy)

                """)
        }
        let bytes = { (count: UInt64) in Quantity.bytes(Int(clamping: count)) }
        var table = Table([("", .left), ("bytes", .right), ("live", .right), ("live share", .right)])
        for (name, usage) in [("before", before), ("after", after)] {
            table.add([name, bytes(usage.byteCount), bytes(usage.liveByteCount), Quantity.share(usage.liveShare)])
        }
        table.note(
            "\(Quantity.count(report.segmentCount)) segments dropped, \(bytes(report.movedByteCount)) copied, \(bytes(report.reclaimedByteCount)) given back (predicted: \(bytes(report.predictedByteCount)))"
        )
        if let rewritten {
            let left = rewritten.leftCount == 0 ? "" : ", \(Quantity.count(rewritten.leftCount)) left as they are"
            table.note("\(Quantity.count(rewritten.rowCount)) objects written in their new form\(left)")
        }
        table.print()
        Terminal.output.write("\(store): compacted; \(Quantity.seconds(seconds))\n")
    }

    private var line: JSONLine {
        var line = JSONLine()
        line.add("segments", report.segmentCount)
        line.add("moved_bytes", Int(clamping: report.movedByteCount))
        line.add("reclaimed_bytes", Int(clamping: report.reclaimedByteCount))
        line.add("predicted_bytes", Int(clamping: report.predictedByteCount))
        line.add("bytes_before", Int(clamping: before.byteCount))
        line.add("live_share_before", before.liveShare)
        line.add("bytes", Int(clamping: after.byteCount))
        line.add("live_bytes", Int(clamping: after.liveByteCount))
        line.add("live_share", after.liveShare)
        line.add(
            "damage",
            report.damage.map { damage in
                var line = JSONLine()
                line.add("path", damage.path)
                line.add("offset", Int(clamping: damage.offset))
                return line
            }
        )
        if let rewritten {
            line.add("rewritten", rewritten.rowCount)
            line.add("not_rewritten", rewritten.leftCount)
        }
        line.add("seconds", seconds)
        return line
    }
}
