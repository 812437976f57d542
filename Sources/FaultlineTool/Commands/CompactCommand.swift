import ArgumentParser
import FaultlineCommands
import FaultlineDisk
import FaultlineLog
import FaultlineObjects
import FaultlineStore

/// `faultline compact`: gives back the space that updates and deletes left behind.
struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "compact",
        abstract: "Copies live records out of segments that are mostly dead, and drops these.",
        discussion: """
            A process that has the store open compacts by itself; this is for stores that are not open. Stores without a \
            schema are not touched. It may be interrupted at any time: nothing is lost, and finished copies count.
            """,
        example: "faultline compact /var/lib/photos.store"
    )

    @OptionGroup var arguments: StoreArguments
    @Flag(
        help: """
            First write objects that a migration left as they were in the form that they have now, so that the space of \
            dropped attributes comes back.
            """)
    var rewrite = false

    func run() throws {
        // Opened for reading first: nothing is written to a directory that is no store.
        let found = try OpenedStore(arguments.store)
        let before = try CommandFailure.working { try found.log.usage() }
        try CommandFailure.working { try found.log.close() }
        let path = arguments.store
        // Rewriting compacts as it goes, so that it takes no more space than it must.
        let (log, rows) = try OpenedStore.openForWriting(path, maintenance: rewrite ? .inline : .manual)
        let begin = monotonicSeconds()
        let rewritten = rewrite ? Result { try writeAnew(rows) } : nil
        var progress = ProgressLine("compacting", unit: "bytes")
        let (report, after) = try CommandFailure.working {
            defer { progress.finish() }
            let report = try log.compact { progress.update(Int(clamping: $0)) }
            let usage = try log.usage()
            try log.close()
            return (report, usage)
        }
        let outcome = CompactionOutcome(
            report: report, rewritten: try? rewritten?.get(), before: before, after: after,
            seconds: monotonicSeconds() - begin)
        outcome.print(of: path, asJSON: arguments.json)
        // Rows that were written before a failure are still compacted.
        _ = try CommandFailure.working { try rewritten?.get() }
        if !report.damage.isEmpty { endProcess(CommandFailure.refused) }
    }

    private func writeAnew(_ rows: RowStore) throws -> RowRewriting.Report {
        var job = try RowRewriting(rows, where: \.knowsDefaults)
        var progress = ProgressLine("rewriting", unit: "objects")
        defer { progress.finish() }
        while try job.step() { progress.update(job.report.rowCount) }
        return job.report
    }
}
