import ArgumentParser
import FaultlineCommands
import FaultlineModel
import FaultlineStore
import FoundationEssentials

/// `faultline schema`: the schema that a store carries.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "schema",
        abstract: "Prints the schema that a store carries: entities, attributes, relationships.",
        example: "faultline schema /var/lib/photos.store --json"
    )

    @OptionGroup var arguments: StoreArguments

    @Flag(help: "Prints the schema as a lock file has it, with fingerprints.")
    var lock = false

    func validate() throws {
        if lock, arguments.json { throw ValidationError("--lock prints the text of a lock file, not JSON.") }
    }

    func run() throws {
        let store = try OpenedStore(arguments.store)
        let schema = store.catalog.schema
        if lock {
            Terminal.output.write(try CommandFailure.working { try SchemaLock([schema]).text })
            return
        }
        if arguments.json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let bytes = try CommandFailure.working { try encoder.encode(schema) }
            Terminal.output.write(String(decoding: bytes, as: UTF8.self) + "\n")
            return
        }
        Terminal.output.write("version \(schema.version)\n")
        for entity in schema.entities {
            Terminal.output.write("\n\(entity.name)\(entity.superentityName.map { ": \($0)" } ?? "")\n")
            for property in entity.properties { Terminal.output.write("    \(Self.line(property))\n") }
            for group in entity.uniquenessConstraints where group.count > 1 {
                Terminal.output.write("    unique together: \(group.joined(separator: ", "))\n")
            }
        }
    }

    private static func line(_ property: any SchemaProperty) -> String {
        guard let relationship = property as? Schema.Relationship else {
            return (property as? Schema.Attribute)?.debugDescription ?? property.name
        }
        let type = relationship.isToOneRelationship ? "\(relationship.destination)?" : "[\(relationship.destination)]"
        let inverse = relationship.inverseName.map { ", inverse \($0)" } ?? ""
        return "\(relationship.name): \(type) \(relationship.deleteRule.rawValue)\(inverse)"
    }
}
