import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineModel
import FaultlineObjects
import FaultlineStore
import FaultlineTestSupport
import Foundation

/// A small store with objects and a history, on a disk in memory: clients' values are used with it.
struct FuzzObjects: Sendable {
    static let shared = FuzzObjects()

    /// Stored things; their numbers begin with 1.
    static let thingCount = 40
    private let log: Log
    private let store: RowStore

    private init() {
        do {
            var options = FuzzStore.options()
            options.memoryBudget = 8 << 20
            let log = try Log.open(
                "/d/objects", on: SimulatedDisk(directories: ["/d"]), clock: Clock { 1_000 }, options: options,
                deriver: RowIndexDeriver())
            let types = Self.schema.entities.map { ModelType.dynamic($0) }
            var migrator = Migrator(log: log, schema: Self.schema, types: types, plan: nil, options: MigrationOptions())
            store = try migrator.run(isReadOnly: false).store
            self.log = log
            try fill()
        } catch {
            preconditionFailure("A store in memory, on a disk that does not fail: \(error)")
        }
    }

    static var schema: Schema {
        let name = Schema.Attribute(name: "name", valueType: String.self)
        let rank = Schema.Attribute(name: "rank", valueType: Int?.self)
        let weight = Schema.Attribute(name: "weight", valueType: Decimal?.self)
        let thing = Schema.Entity("Thing", properties: name, rank, weight)
        thing.indices = [["rank", "name"]]
        return Schema(thing, Schema.Entity("Other", properties: Schema.Attribute(name: "text", valueType: String.self)))
    }

    /// A new context.
    func context() -> ModelContext {
        ModelContext(
            ContextCore(
                store: store, types: Self.schema.entities.map { ModelType.dynamic($0) }, recordsHistory: true),
            owner: nil)
    }

    private func fill() throws {
        let context = context()
        for number in 0..<Self.thingCount {
            let thing = try context.insertNewObject(forEntityName: "Thing")
            thing["name"] = "n\(number % 7)"
            thing["rank"] = number % 5 == 0 ? nil : number
            thing["weight"] = number % 3 == 0 ? nil : Decimal(number) / 8
            if number % 10 == 9 { try context.save() }
        }
        try context.save()
    }

    /// Whether the store has a save.
    func landed(_ transaction: TransactionIdentifier) throws -> Bool { try log.landed(transaction.transactionID) }
}
