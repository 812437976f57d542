package import ArgumentParser

/// The arguments of commands that migrate a store.
package struct MigrationArguments: ParsableArguments {
    @Argument(help: "The store's directory.")
    package var store: String

    @Flag(
        help: "Does everything but the switch, then drops the new data. Shows failures, time and space."
    )
    package var dryRun = false

    @Flag(
        help: "With --dry-run: works on a copy in STORE.dry-run, while other processes write the store.")
    package var copy = false

    @Option(
        help: ArgumentHelp(
            "With --dry-run: tries out so many objects of each entity, and estimates the rest.", valueName: "count"))
    package var sample: Int?

    @Flag(
        help: "Goes on with a migration that was stopped, also after three resumes without progress, and begins none.")
    package var resume = false

    @Flag(help: "Drops the work of a migration that was stopped, and begins at its first stage.")
    package var restart = false

    @Option(help: ArgumentHelp("Memory that the engine may take, in MiB; at least 16.", valueName: "MiB"))
    package var memory = 64

    @Flag(
        help: "Refuses to migrate if entities or attributes with stored values would be dropped that no stage handles.")
    package var keepData = false

    @Flag(
        help: "Drops entities and attributes that the schema asked for does not have, also where no plan says so.")
    package var dropData = false

    @Flag(
        help: "Goes back to a schema that the store has left behind, and drops the values that only the newer one has.")
    package var allowOlder = false

    @Option(
        help: ArgumentHelp(
            "Puts objects that cannot be converted aside, at most so many, and goes on; without it the first one stops the migration.",
            valueName: "limit"))
    package var quarantine: Int?

    @Option(
        help: ArgumentHelp(
            "For how long `faultline rollback` can return to the state of now: its files are kept whole meanwhile.",
            valueName: "hours"))
    package var grace: Int?

    @Flag(
        help: "Refuses a migration that a service could not run while it saves (isOnline); --dry-run tries that out.")
    package var online = false

    @Flag(
        help: "Begins although the disk may have too little room: for stages that make much less than they read.")
    package var skipSpaceCheck = false

    @Option(help: ArgumentHelp("Writes the report to a file, as JSON; that of a failed run too.", valueName: "file"))
    package var report: String?

    @Flag(help: "Prints the report as JSON.")
    package var json = false

    package init() {}

    package func validate() throws {
        guard (16...1 << 20).contains(memory) else {
            throw ValidationError("--memory takes a number of MiB from 16 to 1048576.")
        }
        if copy, !dryRun { throw ValidationError("--copy is for --dry-run.") }
        if let sample {
            guard dryRun else { throw ValidationError("--sample is for --dry-run.") }
            guard sample > 0 else { throw ValidationError("--sample takes a number above 0.") }
        }
        if let quarantine, quarantine < 1 { throw ValidationError("--quarantine takes a number above 0.") }
        if let grace, !(1...1 << 20).contains(grace) {
            throw ValidationError("--grace takes a number of hours from 1 to 1048576.")
        }
        if online, quarantine != nil || grace != nil {
            throw ValidationError("--online does not go with \(quarantine == nil ? "--grace" : "--quarantine").")
        }
        if keepData, dropData { throw ValidationError("Say either --keep-data or --drop-data.") }
        if restart, resume { throw ValidationError("Say either --restart or --resume.") }
        if dryRun, restart {
            throw ValidationError("--dry-run drops no migration that was stopped: run --restart without it.")
        }
        if dryRun, resume { throw ValidationError("--dry-run begins at the beginning, and --resume does not.") }
    }
}
