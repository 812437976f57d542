import ArgumentParser
import Faultline
import FaultlineCommands
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FoundationEssentials

/// `faultline migrate`: brings a store to another schema where that needs no code.
struct MigrateStoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Brings a store to another schema, where that needs no code.",
        discussion: """
            The schema is that of another store, or a file as `faultline schema --json` prints it. What needs closures, \
            policies or classes is refused with the reasons; MigrateCommand, of the product FaultlineCommands, runs a plan \
            in an executable of your own.
            """
    )

    @OptionGroup var arguments: MigrationArguments

    @Option(help: ArgumentHelp("The schema: a store's directory, or a JSON file.", valueName: "schema"))
    var to: String?

    func validate() throws {
        if arguments.resume == (to != nil) {
            throw ValidationError("Say either --to SCHEMA, or --resume, which knows the schema.")
        }
    }

    func run() throws {
        try MigrationRun(arguments).run { unfinished in
            if let unfinished {
                guard unfinished.isWithoutCode else {
                    throw CommandFailure(
                        CommandFailure.refused,
                        "\(arguments.store) has a migration under way that needs code: go on with it by the app, or the executable, that began it. Opening the store under its old schema gives it up."
                    )
                }
                if arguments.resume { return MigrationRun.Goal(unfinished.target) }
            }
            return MigrationRun.Goal(try schema(at: to ?? ""))
        }
    }

    private func schema(at path: String) throws -> Schema {
        var isDirectory = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw CommandFailure(CommandFailure.wrongUsage, "There is no \(path).")
        }
        if isDirectory {
            let store = try OpenedStore(path)
            defer { try? store.log.close() }
            return store.catalog.schema
        }
        do {
            let schema = try JSONDecoder().decode(Schema.self, from: Data(contentsOf: URL(filePath: path)))
            try schema.validate()
            return schema
        } catch {
            throw CommandFailure(
                CommandFailure.wrongUsage, "\(path) is no schema as `faultline schema --json` prints it. \(error)")
        }
    }
}
