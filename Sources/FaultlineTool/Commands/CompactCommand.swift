import ArgumentParser
import FaultlineCommands
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
            schema are not touched. It may be interrupted at any time: nothing is lost, and what was copied counts.
            """
    )

    @OptionGroup var arguments: StoreArguments

    func run() throws {
        // Looked at first: nothing is written to what is no store of ours.
        let found = try OpenedStore(arguments.store)
        let before = try CommandFailure.working { try found.log.usage() }
        try CommandFailure.working { try found.log.close() }
        let path = arguments.store
        var options = LogOptions()
        options.maintenance = .manual
        let log = try CommandFailure.opening(path) {
            try Log.open(path, on: PosixDisk(), clock: .system, options: options, deriver: RowIndexDeriver())
        }
        let begin = monotonicSeconds()
        var progress = ProgressLine("compacting", unit: "bytes")
        let (report, after) = try CommandFailure.working {
            defer { progress.finish() }
            let report = try log.compact { progress.update(Int(clamping: $0)) }
            let usage = try log.usage()
            try log.close()
            return (report, usage)
        }
        let outcome = CompactionOutcome(
            report: report, before: before, after: after, seconds: monotonicSeconds() - begin)
        outcome.print(of: path, asJSON: arguments.json)
        if !report.damage.isEmpty { endProcess(CommandFailure.refused) }
    }
}
