import ArgumentParser
import FaultlineCommands

/// `faultline info`: the contents of a store, and its size on the disk.
struct InfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "info",
        abstract: "Counts entities, segments and blobs of a store, and the space they take.",
        discussion: """
            Reads the tables, and the rows of entities that may have values out of their rows; --quick reads neither. Works beside the process that has \
            the store open, and on damaged stores: then the exit status is 1.
            """,
        example: "faultline info /var/lib/photos.store --quick"
    )

    @OptionGroup var arguments: StoreArguments

    @Flag(help: "Leaves out live bytes, and the bytes of each entity.")
    var quick = false

    func run() throws {
        let store = try OpenedStore(arguments.store)
        let summary = try CommandFailure.working { try StoreSummary(arguments.store, store, isQuick: quick) }
        if arguments.json {
            Terminal.output.write(summary.line.line + "\n")
        } else {
            Terminal.output.write(summary.text(isStyled: Terminal.output.isStyled))
        }
        let isDamaged = summary.damage != nil || summary.entities.contains { $0.unreadableCount > 0 }
        if isDamaged { endProcess(CommandFailure.refused) }
    }
}
