import ArgumentParser
import FaultlineDisk
import FaultlineLog
import FaultlineStore

/// `faultline compact`: gives back the space that updates and deletes left behind.
struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Copies what is live out of segments that are mostly dead, and drops these.",
        discussion: """
            A process that has the store open compacts by itself; this is for stores that are not open. Stores without a \
            schema are not touched.
            """
    )

    @OptionGroup var arguments: StoreArguments

    func run() throws {
        // Looked at first: nothing is written to what is no store of ours.
        let found = try OpenedStore(arguments.store)
        try ToolFailure.working { try found.log.close() }
        let path = arguments.store
        var options = LogOptions()
        options.maintenance = .manual
        let log = try ToolFailure.opening(path) {
            try Log.open(path, on: PosixDisk(), clock: .system, options: options, deriver: RowIndexDeriver())
        }
        let (report, usage) = try ToolFailure.working {
            let report = try log.compact()
            let usage = try log.usage()
            try log.close()
            return (report, usage)
        }
        if arguments.json { printJSON(report, usage) } else { print(report, usage) }
        if !report.damage.isEmpty { endProcess(ToolFailure.refused) }
    }

    private func printJSON(_ report: CompactionReport, _ usage: LogUsage) {
        var line = JSONLine()
        line.add("segments", report.segmentCount)
        line.add("moved_bytes", Int(clamping: report.movedByteCount))
        line.add("reclaimed_bytes", Int(clamping: report.reclaimedByteCount))
        line.add("predicted_bytes", Int(clamping: report.predictedByteCount))
        line.add("bytes", Int(clamping: usage.byteCount))
        line.add("live_bytes", Int(clamping: usage.liveByteCount))
        line.add(
            "damage",
            report.damage.map { damage in
                var line = JSONLine()
                line.add("path", damage.path)
                line.add("offset", Int(clamping: damage.offset))
                return line
            }
        )
        Terminal.output.write(line.line + "\n")
    }

    private func print(_ report: CompactionReport, _ usage: LogUsage) {
        for damage in report.damage {
            Terminal.output.write("\(damage.path), offset \(damage.offset): does not verify; the segment is kept\n")
        }
        let bytes = { (count: UInt64) in Quantity.bytes(Int(clamping: count)) }
        Terminal.output.write(
            """
            \(arguments.store): \(Quantity.count(report.segmentCount)) segments dropped, \
            \(bytes(report.movedByteCount)) copied, \(bytes(report.reclaimedByteCount)) given back; \
            \(bytes(usage.byteCount)) in all, \(bytes(usage.liveByteCount)) live

            """
        )
    }
}
