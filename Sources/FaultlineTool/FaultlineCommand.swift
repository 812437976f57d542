import ArgumentParser
import FaultlineCommands

/// The tool: inspects stores without their model classes, and demonstrates the library on this machine's own data.
struct FaultlineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "faultline",
        abstract: "Looks into Faultline stores, verifies and salvages them, and runs the demo.",
        discussion: """
            Exit status: 0 done; 1 the check found damage, or the operation was refused; 2 wrong usage; 3 the store cannot be opened.
            """,
        subcommands: [
            DemoCommand.self, DoctorCommand.self, BrowseCommand.self, InfoCommand.self, SchemaCommand.self,
            DumpCommand.self, SearchCommand.self, VerifyCommand.self,
            CompactCommand.self, RepairCommand.self, QuarantineCommand.self, SalvageCommand.self,
            BackupCommand.self, RestoreCommand.self, MigrateStoreCommand.self, RollbackCommand.self,
            ModelCommand.self, ImportCommand.self, DemoStepCommand.self,
        ]
    )
}

/// Runs the tool, and ends the process if a command returns a status.
///
/// In a library of its own, so that tests can import the tool's parts.
///
/// - Parameter arguments: The arguments after the tool's name; nil for those of the process.
package func runFaultlineTool(_ arguments: [String]? = nil) {
    FaultlineCommand.runAndExit(arguments)
}

/// The help of each command that the tool lists, by the command's name.
package func faultlineToolHelp() -> [(name: String, help: String)] {
    var all: [(name: String, help: String)] = []
    for command: any ParsableCommand.Type in FaultlineCommand.configuration.subcommands {
        let configuration: CommandConfiguration = command.configuration
        guard configuration.shouldDisplay, let name = configuration.commandName else { continue }
        all.append((name, FaultlineCommand.helpMessage(for: command, columns: 120)))
    }
    return all
}
