import ArgumentParser
import Faultline
import FaultlineCommands
import FaultlineCoreData
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FoundationEssentials

/// `faultline migrate`: brings a store to another schema where that needs no code.
struct MigrateStoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "migrate",
        abstract: "Brings a store to another schema, where that needs no code.",
        discussion: """
            The schema is that of another store, or a file as `faultline schema --json` prints it. Mappings that are \
            values are taken from a file of JSON, or from a mapping model of Core Data: docs/Migrations.md. What needs \
            closures, policies or classes is refused with the reasons; MigrateCommand, of the product FaultlineCommands, runs a plan \
            in an executable of your own.
            """,
        example: "faultline migrate /var/lib/photos.store --to /var/lib/new.store --dry-run"
    )

    @OptionGroup var arguments: MigrationArguments

    @Option(help: ArgumentHelp("The schema: a store's directory, or a JSON file.", valueName: "schema"))
    var to: String?

    @Option(
        help: ArgumentHelp(
            "Mappings as values, in JSON, an .xcmappingmodel or a .cdm: what becomes of objects where the schemas do not say it by themselves.",
            valueName: "file"))
    var mapping: String?

    func validate() throws {
        if arguments.resume == (to != nil) {
            throw ValidationError("Say either --to SCHEMA, or --resume, which knows the schema.")
        }
    }

    func run() throws {
        try MigrationRun(arguments).run { unfinished, stored in
            let target = arguments.resume ? unfinished?.target : nil
            let schema = try target ?? schema(at: to ?? "")
            let goal = MigrationRun.Goal(schema, mapping: try mapping.map { try model(at: $0, stored, schema) })
            if let unfinished, !unfinished.isWithoutCode, !goal.continues(unfinished) {
                throw CommandFailure(
                    CommandFailure.refused,
                    "\(arguments.store) has a migration under way that needs code, or another mapping file: go on with it by what began it. Opening the store under its old schema gives it up."
                )
            }
            return goal
        }
    }

    private func model(at path: String, _ stored: Schema, _ target: Schema) throws -> MappingModel {
        let url = URL(filePath: path)
        if MappingModelFile.extensions.contains(url.pathExtension) {
            do { return try MappingModel(contentsOf: url, forSourceModel: stored, destinationModel: target) } catch {
                throw CommandFailure(CommandFailure.wrongUsage, "\(error)")
            }
        }
        let text: String
        do { text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self) } catch {
            throw CommandFailure(CommandFailure.wrongUsage, "\(path) cannot be read. \(error)")
        }
        do { return try MappingFile.model(text, from: stored, to: target) } catch {
            throw CommandFailure(CommandFailure.wrongUsage, "\(path) is no mapping file. \(error)")
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
