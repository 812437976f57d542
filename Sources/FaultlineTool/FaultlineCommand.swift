import ArgumentParser

/// The tool: looks into stores without their model classes, and shows what the library does on this machine's own data.
struct FaultlineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "faultline",
        abstract: "Looks into Faultline stores, verifies them, and runs the demo.",
        discussion: """
            Exit status: 0 done; 1 the check found damage, or the operation was refused; 2 wrong usage; 3 the store cannot be opened.
            """,
        subcommands: [
            DemoCommand.self, InfoCommand.self, SchemaCommand.self, DumpCommand.self, VerifyCommand.self,
            DemoStepCommand.self,
        ]
    )

    static func run() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let failure as ToolFailure {
            Terminal.messages.write("faultline: \(failure.message)\n")
            endProcess(failure.status)
        } catch {
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            Terminal.messages.write(fullMessage(for: error) + "\n")
            endProcess(ToolFailure.wrongUsage)
        }
    }
}

/// Runs the tool.
///
/// In a library of its own, so that tests can import what the tool is made of.
package func runFaultlineTool() {
    FaultlineCommand.run()
}
