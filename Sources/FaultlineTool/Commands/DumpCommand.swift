import ArgumentParser
import FaultlineLog
import FaultlineModel
import FaultlineStore

/// `faultline dump`: every object as a line of JSON.
struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Prints every object as a line of JSON.",
        discussion: """
            Relationships to one are the other object's number, those to many are left out: they are the other side's. A value out of its row is named by \
            number and size, not read.
            """
    )

    @OptionGroup var arguments: StoreArguments

    @Option(help: "Only objects of this entity.")
    var entity: String?

    @Option(help: "At most so many objects of each entity.")
    var limit: Int?

    func run() throws {
        let store = try OpenedStore(arguments.store)
        if let entity, store.rows.storage.entity(named: entity) == nil {
            let names = store.rows.storage.entities.map(\.name).joined(separator: ", ")
            throw ToolFailure(ToolFailure.wrongUsage, "The store has no entity \(entity); it has \(names).")
        }
        for storage in store.rows.storage.entities where entity == nil || entity == storage.name {
            try ToolFailure.working { try dump(storage, store) }
        }
    }

    private func dump(_ entity: EntityStorage, _ store: OpenedStore) throws {
        let properties = store.catalog.schema.entities[entity.ordinal].properties
        var text = ""
        var left = limit ?? Int.max
        try store.snapshot.scan(entity.table, from: 1, through: OpenedStore.identifierMax, readAhead: 256 << 10) {
            records in
            for record in records {
                guard left > 0 else { return false }
                left -= 1
                let row = try store.rows.view(record, of: entity)
                var line = JSONLine()
                line.add("entity", entity.name)
                line.add("id", Int(clamping: record.id))
                var values = JSONLine()
                for (slot, property) in properties.enumerated()
                where entity.layout.columns[slot].kind != .toMany {
                    values.add(row, slot: slot, kind: entity.layout.columns[slot].kind, as: property.name)
                }
                line.add("values", values)
                text += line.line + "\n"
            }
            if text.utf8.count > 1 << 16 {
                Terminal.output.write(text)
                text = ""
            }
            return true
        }
        Terminal.output.write(text)
    }
}
