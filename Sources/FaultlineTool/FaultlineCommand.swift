import ArgumentParser
import FaultlineCommands

/// The tool: looks into stores without their model classes, and shows what the library does on this machine's own data.
struct FaultlineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "faultline",
        abstract: "Looks into Faultline stores, verifies and salvages them, and runs the demo.",
        discussion: """
            Exit status: 0 done; 1 the check found damage, or the operation was refused; 2 wrong usage; 3 the store cannot be opened.
            """,
        subcommands: [
            DemoCommand.self, InfoCommand.self, SchemaCommand.self, DumpCommand.self, VerifyCommand.self,
            CompactCommand.self, RepairCommand.self, QuarantineCommand.self, SalvageCommand.self,
            MigrateStoreCommand.self, RollbackCommand.self, DemoStepCommand.self,
        ]
    )
}

/// Runs the tool, which ends the process where it has a status to tell.
///
/// In a library of its own, so that tests can import what the tool is made of.
///
/// - Parameter arguments: What follows the tool's name; nil for those of the process.
package func runFaultlineTool(_ arguments: [String]? = nil) {
    FaultlineCommand.runAndExit(arguments)
}
