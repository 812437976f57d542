import Faultline
import FaultlineLog
import FaultlineModel
import FaultlineRepair
import FaultlineStore
import FaultlineTestSupport
import Testing

/// A store with the objects of a change, made under the change's old schema.
struct ChangedStore {
    private let folder = TemporaryDirectory()

    init(_ change: SchemaChange) throws { try self.init(change.old, change.objects) }

    init(_ schema: Schema, _ samples: [SchemaChange.Sample]) throws {
        try open(schema) { _, context in
            var objects: [String: ManagedObject] = [:]
            for sample in samples {
                let object = try context.insertNewObject(forEntityName: sample.entity)
                objects[sample.n] = object
                object["n"] = sample.n
                for (name, value) in sample.values { object[name] = value }
                for (name, others) in sample.references {
                    let members = others.compactMap { objects[$0] }
                    let isToOne = schema.entitiesByName[sample.entity]?.relationship(named: name)?.isToOneRelationship
                    object[name] = isToOne == true ? members.first : members
                }
            }
            try context.save()
        }
    }

    func open(
        _ schema: Schema, unhandledData: MigrationOptions.UnhandledData = .drop, mapping: MappingModel? = nil,
        _ alter: (inout StoreOptions.Migration) -> Void = { _ in },
        _ body: (ModelContainer, ModelContext) throws -> Void
    ) throws {
        var configuration = ModelConfiguration(url: URL(filePath: "\(folder.path)/changed.store"))
        configuration.options.durability = .async
        configuration.options.migration.unhandledData = unhandledData
        configuration.options.migration.mapping = mapping
        alter(&configuration.options.migration)
        let container = try ModelContainer(for: schema, configurations: [configuration])
        defer { try? container.close() }
        try body(container, ModelContext(container))
    }

    /// Every object with its values, `n` first.
    func outcome(_ context: ModelContext) throws -> [String] {
        try context.container.schema.entities.flatMap { entity in
            try context.fetch(FetchRequest(entityName: entity.name)).map { object in
                let values = entity.properties.filter { $0.name != "n" }.map { " \($0.name)=\(text(object[$0.name]))" }
                return "\(entity.name) \(text(object["n"]))\(values.joined())"
            }
        }
    }

    private func text(_ value: Any?) -> String {
        switch value {
        case nil: "nil"
        case let data as Data: "\(data.count) bytes"
        case let object as ManagedObject: text(object["n"])
        case let members as [ManagedObject]: "[\(members.map { text($0["n"]) }.joined(separator: ","))]"
        case let value?: "\(value)"
        }
    }

    /// Every row as it is in its record, by table and number.
    func rows(_ container: ModelContainer) throws -> [String: [UInt8]] {
        let store = container.rowStore
        var rows: [String: [UInt8]] = [:]
        for table in store.storage.map.tables {
            try store.log.snapshot().scan(
                TableID(rawValue: table), from: 1, through: Limits.recordIDMax, readAhead: 4_096
            ) { records in
                for record in records { rows["\(table) \(record.id)"] = Array(record.row) }
                return true
            }
        }
        return rows
    }

    func findings(_ container: ModelContainer) throws -> [String] {
        var findings: [String] = []
        try container.rowStore.log.verify({ findings.append("\($0)") }, progress: { _, _ in })
        return findings
    }
}
