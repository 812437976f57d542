import ArgumentParser
import FaultlineCommands
import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineStore

/// `faultline salvage`: a new store with everything of a damaged one that still verifies.
struct SalvageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "salvage",
        abstract: "Writes a new store with everything of a damaged one that still verifies, and names the rest.",
        discussion: """
            Any part of the store may be damaged or missing; not a byte of it is written. Of each object the newest version that verifies is taken. \
            Exit status: 0 nothing is lost; 1 something is, or may be old, as listed; 2 wrong usage; 3 the store cannot be read at all.
            """,
        example: "faultline salvage /var/lib/photos.store /var/lib/rescued.store"
    )

    @Argument(help: "The damaged store's directory.")
    var store: String

    @Argument(help: "Where the new store will be: a directory that does not exist, or is empty.")
    var destination: String

    @Flag(help: "Prints JSON, one object a line.")
    var json = false

    func run() throws {
        let begin = monotonicSeconds()
        let disk = PosixDisk()
        let source: SalvageSource
        do {
            source = try SalvageSource.open(store, on: disk)
        } catch {
            throw CommandFailure(
                CommandFailure.cannotOpen, "\(store) cannot be read. \(CommandFailure.sentence(for: error))")
        }
        let salvage = Salvage(
            to: destination, on: disk, clock: .system, options: LogOptions(), deriver: RowIndexDeriver())
        do {
            try salvage.checkDestination(outside: store)
        } catch {
            throw CommandFailure(CommandFailure.wrongUsage, CommandFailure.sentence(for: error))
        }

        let list = SalvageFindingList(asJSON: json)
        let report = try run(salvage, source, list)
        list.finish()
        var names: [TableID: String] = [:]
        var findingCount = 0
        var danglingCount = 0
        if report.isCatalogReadable {
            let made = try? OpenedStore(destination)
            if let made {
                names = Self.names(of: made)
                let check: StoreCheck
                // References to lost objects, and values that are not unique any more.
                (check, findingCount) = try StoreCheck.show(made, asJSON: json)
                danglingCount = check.dangling.reduce(0) { $0 + $1.count }
            }
        }
        let outcome = SalvageOutcome(
            report: report, names: names, findingCount: findingCount, danglingCount: danglingCount,
            destination: destination, seconds: monotonicSeconds() - begin)
        outcome.print(asJSON: json)
        if outcome.hasLoss { endProcess(CommandFailure.refused) }
    }

    private func run(
        _ salvage: Salvage, _ source: borrowing SalvageSource, _ list: SalvageFindingList
    ) throws(CommandFailure) -> SalvageReport {
        var line: (step: Salvage.Step, text: ProgressLine)?
        defer { line?.text.finish() }
        do {
            return try salvage.run(source) { finding in
                list.add(finding)
            } progress: { step, done, total in
                if line?.step != step {
                    line?.text.finish()
                    line = (step, Self.progressLine(step, total))
                }
                line?.text.update(Int(clamping: done))
            }
        } catch {
            throw CommandFailure(CommandFailure.refused, CommandFailure.sentence(for: error))
        }
    }

    private static func progressLine(_ step: Salvage.Step, _ total: UInt64) -> ProgressLine {
        switch step {
        case .reading: ProgressLine("reading", total: Int(clamping: total), unit: "bytes")
        case .writing: ProgressLine("writing", unit: "objects")
        case .indexing: ProgressLine("making indexes")
        }
    }

    private static func names(of store: OpenedStore) -> [TableID: String] {
        var names: [TableID: String] = [.catalog: "(catalog)", .blobs: "(blobs)"]
        for entity in store.rows.storage.entities { names[entity.table] = entity.name }
        for link in store.catalog.map.links { names[TableID(rawValue: link.table)] = "(links)" }
        return names
    }
}
