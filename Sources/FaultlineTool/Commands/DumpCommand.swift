import ArgumentParser
import FaultlineCommands
import FaultlineLog
import FaultlineStore

/// `faultline dump`: every object as a line of JSON.
struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "dump",
        abstract: "Prints every readable object as a line of JSON.",
        discussion: """
            Relationships are the other objects' numbers. A value out of its row is named by number and size, and read only where --blobs says where to. \
            Other processes may use the store meanwhile: all lines are of one moment. An object that cannot be read whole has "damage" in its line; then \
            the exit status is 1. With --at or --transaction the lines are of an older state, which the log of the store must still have; the store may \
            be a directory of backups too.
            """,
        example: "faultline dump /var/lib/photos.store --entity Photo --limit 10"
    )

    @OptionGroup var arguments: StoreArguments

    @OptionGroup var state: StateArguments

    @Option(help: "Only objects of this entity; may be given several times.")
    var entity: [String] = []

    @Option(help: "At most so many objects of each entity.")
    var limit: Int?

    @Option(help: "Writes values out of the rows to this folder, or into the lines if it is base64.")
    var blobs: String?

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is at least 0.") }
    }

    func run() throws {
        let store = try state.open(arguments.store)
        let known = Set(store.rows.storage.entities.map(\.name))
        for name in entity where !known.contains(name) {
            let names = known.sorted().joined(separator: ", ")
            throw CommandFailure(CommandFailure.wrongUsage, "The store has no entity \(name); it has \(names).")
        }
        let destination = BlobDestination(option: blobs)
        try destination.prepare(for: arguments.store)
        let entities = store.rows.storage.entities.filter { entity.isEmpty || entity.contains($0.name) }
        let total = entities.reduce(0) { $0 + min(store.snapshot.recordCount(of: $1.table), limit ?? .max) }
        // A progress line would overwrite objects on a terminal.
        var progress = Terminal.output.isInteractive ? nil : ProgressLine("dumping", total: total, unit: "objects")
        let dump = ObjectDump(store, blobs: destination)
        do {
            defer { progress?.finish() }
            for entity in entities {
                try CommandFailure.working { try dump.run(entity, limit: limit ?? .max) { progress?.update($0) } }
            }
        }
        guard dump.damagedCount > 0 else { return }
        throw CommandFailure(
            CommandFailure.refused,
            "\(Quantity.count(dump.damagedCount)) lines say of damage; the other objects are whole. \(LogError.damageRemedy)"
        )
    }
}
