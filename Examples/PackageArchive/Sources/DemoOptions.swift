package import ArgumentParser

/// The options of a demo run.
package struct DemoOptions: ParsableArguments, Sendable {
    @Argument(help: "The store's directory; it is made if it is not there.")
    package var store: String

    @Flag(help: "Removes the files of an earlier run at that path. Without it, a stopped run continues.")
    package var fresh = false

    @Option(name: .customLong("blob-mib"), help: "The most MiB of files taken as large attributes.")
    package var blobMiB = 512

    @Option(name: .customLong("cache-mib"), help: "The cache budget of the list step, in MiB.")
    package var cacheMiB = 4

    @Option(name: .customLong("ceiling-mib"), help: "The memory ceiling of the migrations, in MiB.")
    package var ceilingMiB = 64

    @Option(name: .customLong("objects"), help: "The fewest objects: a smaller source is repeated under new names.")
    package var leastObjectCount = 50_000

    @Option(help: "Stores the directories and files of this folder instead of the package database.")
    package var folder: String?

    @Flag(help: .hidden)
    package var announce = false

    package init() {}

    package func validate() throws {
        guard blobMiB >= 0, cacheMiB >= 4, ceilingMiB >= 16, leastObjectCount >= 0 else {
            throw ValidationError(
                "--blob-mib is at least 0, --cache-mib at least 4, --ceiling-mib at least 16, --objects at least 0."
            )
        }
    }

    package var journalPath: String { store + ".journal" }
}
