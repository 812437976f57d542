public import ArgumentParser
public import Faultline

/// A command that brings a store to the newest version of a plan, for an executable of your own: closures and policies
/// of stages run in it.
///
/// ```swift
/// import Faultline
/// import FaultlineCommands
///
/// @main enum Migrate {
///     static func main() { MigrateCommand<LibraryPlan>.main() }
/// }
/// ```
///
/// `--dry-run` tries a migration out on the real store before a deployment. Ctrl-C stops one, and the next run
/// continues it if its kind of stage allows that. Exit status: 0 done; 1 the migration was refused, failed, or was
/// stopped; 2 wrong usage; 3 the store cannot be opened. As a subcommand of another command it exits with these too,
/// except for wrong usage, which the outer command reports.
public struct MigrateCommand<Plan: SchemaMigrationPlan>: ParsableCommand {
    /// The command's name, `migrate`, and its help.
    public static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "migrate",
            abstract: "Brings a store to the newest version of \(Plan.self).",
            discussion: """
                A migration that was stopped is gone on with where its stages allow that. Until the switch at its end the \
                store stays in its old state.

                Example:
                  migrate /var/lib/photos.store --dry-run
                """
        )
    }

    @OptionGroup var arguments: MigrationArguments

    /// A command without arguments.
    public init() {}

    /// Migrates the store, or tries it out.
    ///
    /// - Throws: `ExitCode` with the status, once the message is written to the standard error.
    public func run() throws {
        do {
            guard let newest = Plan.schemas.last else {
                throw CommandFailure(CommandFailure.refused, "\(Plan.self) has no versions. List them in `schemas`.")
            }
            try MigrationRun(arguments).run { _, _ in
                MigrationRun.Goal(Schema(versionedSchema: newest), by: Plan.self)
            }
        } catch let failure as CommandFailure {
            Terminal.messages.write("\(Self.configuration.commandName ?? "migrate"): \(failure.message)\n")
            throw ExitCode(failure.status)
        }
    }

    /// Runs the command, and ends the process if the command returns a status.
    ///
    /// - Parameter arguments: The arguments after the executable's name; nil for those of the process.
    public static func main(_ arguments: [String]? = nil) { runAndExit(arguments) }
}
