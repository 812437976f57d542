import ArgumentParser
import FaultlineCommands
import FaultlineDisk
import FaultlineLog
import FaultlineModel
import FaultlineObjects
import FaultlineRepair
import FaultlineStore

/// `faultline repair`: clears references to deleted objects, or opens a store whose log lacks its end.
struct RepairCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "repair",
        abstract: "Clears references that lead to objects which are gone.",
        discussion: """
            They read as nil before and after. The command stores nil for them, and removes links that have lost one of their objects, which gives space back. \
            --dry-run prints how many there are and writes nothing. If some are required, nothing is written without --required. For \
            stores that no process has open for writing; damage is not repaired: `faultline salvage`.

            --accept-loss is for a store that is refused because saves are missing at its end. It writes a report of the missing saves, and then makes the store \
            usable with the saves that are there. It clears no references. With --dry-run it only says how many are missing.
            """,
        example: "faultline repair /var/lib/photos.store --dry-run"
    )

    @OptionGroup var arguments: StoreArguments

    @Flag(help: "Lists the references that would be cleared, and writes nothing.")
    var dryRun = false

    @Flag(help: "Goes on without saves that are missing at the store's end, and writes a report.")
    var acceptLoss = false

    @Option(help: "Where the report of --accept-loss is to be: a new file. Beside the store if left out.")
    var report: String?

    @Option(
        help:
            "References that are required: leave them, or clear them, so that their objects can be saved only with another one."
    )
    var required: RequiredReferences?

    enum RequiredReferences: String, ExpressibleByArgument {
        case leave, clear

        var choice: ReferenceRepair.Required { self == .leave ? .leave : .clear }
    }

    func validate() throws {
        if report != nil, !acceptLoss { throw ValidationError("--report is for --accept-loss.") }
        guard !acceptLoss || required == nil else {
            throw ValidationError("--accept-loss clears no references: run repair again.")
        }
    }

    func run() throws {
        if acceptLoss { return try acceptTheLoss() }
        let store = try OpenedStore(arguments.store)
        var progress = ProgressLine("looking", unit: "rows")
        let found = try CommandFailure.working {
            defer { progress.finish() }
            let found = try ReferenceRepair(store.rows).look { progress.update($0) }
            try store.log.close()
            return found
        }
        if dryRun { return show(found, "dry run") }
        if required == nil, found.contains(where: \.isRequired) {
            show(found, "refused")
            throw CommandFailure(
                CommandFailure.refused,
                "Some of these references are required, so nothing was written. Say --required leave to keep those, or --required clear."
            )
        }
        show(found.isEmpty ? [] : try repair(), "ok")
    }

    private func acceptTheLoss() throws {
        let acceptance = LossAcceptance(arguments.store, reportPath: report)
        guard let tail = try acceptance.look() else { return showLoss(nil, nil, "nothing missing") }
        showLoss(tail, dryRun ? nil : try acceptance.accept(tail), dryRun ? "dry run" : "ok")
    }

    private func showLoss(_ tail: LostTail?, _ report: String?, _ outcome: String) {
        guard !arguments.json else {
            var line = JSONLine()
            line.add("repair", outcome)
            if let tail { line.add("loss", LossAcceptance.line(of: tail, arguments.store)) }
            if let report { line.add("report", report) }
            Terminal.output.write(line.line + "\n")
            return
        }
        guard let tail else {
            Terminal.output.write("\(arguments.store): no save is known to be missing; nothing was written\n")
            return
        }
        let missing = Quantity.count(Int(clamping: tail.count))
        Terminal.output.write(
            "\(arguments.store): at least \(missing) saves behind transaction \(tail.found) are missing, "
                + (report.map { "and the store goes on without them; report: \($0)" } ?? "and nothing was written")
                + "\n")
    }

    private func repair() throws -> [ReferenceRepair.Found] {
        let (log, rows) = try OpenedStore.openForWriting(arguments.store)
        var progress = ProgressLine("clearing", unit: "rows")
        return try CommandFailure.working {
            defer { progress.finish() }
            let cleared = try ReferenceRepair(rows).run(required: required?.choice ?? .leave) {
                progress.update($0)
            }
            try log.close()
            return cleared
        }
    }

    private func show(_ found: [ReferenceRepair.Found], _ outcome: String) {
        let references = found.filter { !$0.isLink }.reduce(0) { $0 + $1.count }
        let links = found.filter(\.isLink).reduce(0) { $0 + $1.count }
        guard !arguments.json else {
            for one in found {
                var line = JSONLine()
                line.add("entity", one.entityName)
                line.add("property", one.propertyName)
                line.add("kind", one.isLink ? "links" : one.isRequired ? "required" : "references")
                line.add("count", one.count)
                Terminal.output.write(line.line + "\n")
            }
            var line = JSONLine()
            line.add("repair", outcome)
            line.add("references", references)
            line.add("links", links)
            Terminal.output.write(line.line + "\n")
            return
        }
        for one in found {
            let kind = one.isLink ? "links" : one.isRequired ? "required references" : "references"
            Terminal.output.write("\(one.entityName).\(one.propertyName): \(Quantity.count(one.count)) \(kind)\n")
        }
        let done = outcome == "ok" ? "cleared" : "lead to objects that are gone; nothing was written"
        Terminal.output.write(
            "\(arguments.store): \(Quantity.count(references)) references and \(Quantity.count(links)) links \(done)\n")
    }
}
