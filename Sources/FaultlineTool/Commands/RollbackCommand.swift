import ArgumentParser
import Faultline
import FaultlineCommands
import FaultlineLog
import FaultlineMigration
import FoundationEssentials

/// `faultline rollback`: returns a store to the state before its newest migration.
struct RollbackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "rollback",
        abstract: "Returns a store to the state before its newest migration, as long as its grace period lasts.",
        discussion: """
            Refused if saves followed the migration, unless --discard-commits is given: then they are lost. The store must \
            be open nowhere. It may be interrupted at any time: the store is in the one state or the other.
            """,
        example: "faultline rollback /var/lib/photos.store"
    )

    @OptionGroup var arguments: StoreArguments

    @Flag(help: "Loses the saves that followed the migration.")
    var discardCommits = false

    func run() throws {
        // Opened for reading first: nothing is written to a directory that is no store.
        let found = try OpenedStore(arguments.store)
        try CommandFailure.working { try found.log.close() }
        let report: RollbackReport
        do {
            report = try ModelContainer.rollBackMigration(
                of: ModelConfiguration(url: URL(filePath: arguments.store, directoryHint: .isDirectory)),
                discardingCommits: discardCommits)
        } catch let error as RollbackError where error.code == .commitsFollowed {
            throw CommandFailure(
                CommandFailure.refused,
                "\(error.commits) \(error.commits == 1 ? "save" : "saves") followed the migration, which a rollback would lose. Give --discard-commits if they may be lost."
            )
        } catch let error as StorageError where error.code == .lockedByAnother {
            throw CommandFailure(CommandFailure.cannotOpen, "\(error)")
        } catch {
            throw CommandFailure(CommandFailure.refused, "\(error)")
        }
        if arguments.json {
            var line = JSONLine()
            line.add("from", report.from)
            line.add("to", report.to)
            line.add("commits_discarded", report.commitsDiscarded)
            Terminal.output.write(line.line + "\n")
            return
        }
        let lost =
            switch report.commitsDiscarded {
            case 0: "no save is lost"
            case 1: "1 save is lost"
            default: "\(Quantity.count(report.commitsDiscarded)) saves are lost"
            }
        Terminal.output.write("\(arguments.store): rolled back from \(report.from) to \(report.to); \(lost)\n")
    }
}
