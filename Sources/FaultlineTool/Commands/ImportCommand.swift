import ArgumentParser
import Faultline
import FaultlineCommands
import FaultlineImport
import FoundationEssentials

/// `faultline import`: makes a store of one that Core Data or SwiftData has written.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "import",
        abstract: "Makes a store of one that Core Data or SwiftData has written.",
        discussion: """
            The source is a .sqlite or .store file; its -wal and its folder of large values are read with it, and nothing of it is written. \
            Interrupted, the same command goes on. Values that cannot be carried over are listed, with status 1, and are in \
            DEST.findings.jsonl. docs/Import.md has the rules. Needs a tool that was built with the package trait Import.
            """,
        example: "faultline import /var/lib/photos.sqlite /var/lib/imported.store --model Photos.xcdatamodeld"
    )

    @Argument(help: ArgumentHelp("The file of the Core Data or SwiftData store.", valueName: "store.sqlite"))
    var source: String

    @Argument(help: ArgumentHelp("The directory of the new store, which must not exist.", valueName: "dest"))
    var destination: String

    @Option(
        help: ArgumentHelp(
            "The model: an .xcdatamodeld, .xcdatamodel, .momd or .mom, or a .json as `faultline schema --json` prints it. Without it, the model in the store counts.",
            valueName: "package"))
    var model: String?

    @Flag(help: "Prints JSON.")
    var json = false

    func run() throws {
        #if Import
        var work = try ImportModel(path: model).makeImport(
            from: URL(filePath: source), to: URL(filePath: destination, directoryHint: .isDirectory))
        let display = ImportDisplay()
        work.progress = { display.show($0) }
        let report: ImportReport
        do {
            defer { display.finish() }
            report = try work.run()
        } catch let error as ImportError {
            throw CommandFailure(error.opensNothing ? CommandFailure.cannotOpen : CommandFailure.refused, error.message)
        } catch let error as SchemaError {
            throw CommandFailure(CommandFailure.refused, "The model is not valid. \(error)")
        } catch { throw CommandFailure(CommandFailure.refused, CommandFailure.sentence(for: error)) }
        Terminal.output.write(json ? report.line + "\n" : report.text(of: destination))
        if !report.isComplete { endProcess(CommandFailure.refused) }
        #else
        throw CommandFailure(
            CommandFailure.refused,
            "This tool was built without the package trait Import, which reads SQLite. Build it with `swift build --traits Import`; it needs the headers of SQLite and zlib (libsqlite3-dev, zlib1g-dev)."
        )
        #endif
    }
}
