import ArgumentParser
import Faultline
import FaultlineCommands
import FaultlineDisk
import FaultlineLog
import FaultlineStore
import Foundation

/// `faultline quarantine`: the objects that migrations could not convert.
struct QuarantineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "quarantine",
        abstract: "Lists the objects that migrations could not convert and have put aside.",
        discussion: """
            Each with its identifier in the quarantine, its entity and number in the version before, the rule that it breaks and the reason. --dump adds the \
            values, and lines of related objects. Nothing is written, unless --remove says that an object is settled.
            """,
        example: "faultline quarantine /var/lib/photos.store --dump --blobs base64"
    )

    @OptionGroup var arguments: StoreArguments

    @Flag(help: "Prints the values, the members of collections, and who referred to the objects, as lines of JSON.")
    var dump = false

    @Option(help: "With --dump: writes values out of the rows into the lines if it is base64, else to this folder.")
    var blobs: String?

    @Option(help: "Removes the object of this identifier, with its large values, for good; may be given several times.")
    var remove: [UInt64] = []

    func validate() throws {
        if dump, !remove.isEmpty { throw ValidationError("--dump and --remove are two commands.") }
        if blobs != nil, !dump { throw ValidationError("--blobs goes with --dump.") }
    }

    func run() throws {
        let store = try OpenedStore(arguments.store)
        guard remove.isEmpty else {
            try CommandFailure.working { try store.log.close() }
            return try removeObjects()
        }
        let destination = BlobDestination(option: blobs)
        try destination.prepare(for: arguments.store)
        try CommandFailure.working {
            try QuarantineDump(
                Quarantine(store.log), asJSON: arguments.json || dump, withValues: dump, blobs: destination
            )
            .run()
        }
    }

    private func removeObjects() throws {
        let path = arguments.store
        let log = try OpenedStore.openForWriting(path).log
        try CommandFailure.working {
            let quarantine = try Quarantine(log)
            for id in remove {
                guard let object = try quarantine.object(id) else {
                    throw CommandFailure(
                        CommandFailure.refused,
                        "There is no object \(id) in the quarantine; those named before it are removed.")
                }
                try quarantine.remove(object)
            }
            try log.close()
        }
        if arguments.json {
            var line = JSONLine()
            line.add("removed", remove.count)
            Terminal.output.write(line.line + "\n")
        } else {
            Terminal.output.write("\(remove.count) removed\n")
        }
    }
}
