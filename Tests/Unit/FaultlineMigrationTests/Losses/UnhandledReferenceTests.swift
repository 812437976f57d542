import Faultline
import FaultlineMigration
import Foundation
import Testing

/// Dropped relationships and members of composite values count as data too, and no save can happen between the check
/// and the switch.
@Suite struct UnhandledReferenceTests {
    private typealias Sample = SchemaChange.Sample

    private struct Address: Codable {
        var city: String?
        var street: Street?
        struct Street: Codable {
            var name: String
            var number: Int?
        }
    }

    private static func entity(_ name: String, _ properties: any SchemaProperty...) -> Schema.Entity {
        let label: [any SchemaProperty] = [Schema.Attribute(name: "n", valueType: String.self)]
        return Schema.Entity(name, subentities: [], properties: label + properties)
    }

    private static func schema(_ version: Int, _ entities: Schema.Entity...) -> Schema {
        Schema(entities: entities, version: Schema.Version(version, 0, 0))
    }

    private static func one(_ name: String, _ destination: String, _ inverse: String? = nil) -> Schema.Relationship {
        SchemaChange.one(name, destination, inverse: inverse)
    }

    private static func many(_ name: String, _ destination: String, _ inverse: String? = nil) -> Schema.Relationship {
        SchemaChange.many(name, destination, inverse: inverse)
    }

    /// The reason why a migration without stages is refused; nil if it succeeds.
    private func refusal(_ old: Schema, _ new: Schema, _ samples: [SchemaChange.Sample]) throws -> String? {
        try refusal(ChangedStore(old, samples), new)
    }

    private func refusal(_ store: ChangedStore, _ new: Schema) throws -> String? {
        do { try store.open(new, unhandledData: .fail) { _, _ in } } catch let error as MigrationError {
            #expect(error.code == .unhandledData)
            return error.message.replacing(" (1.0.0 → 2.0.0)", with: "")
                .split(separator: ": ", maxSplits: 1).last?.split(separator: ". Take").first.map(String.init)
        }
        return nil
    }

    @Test func `a to-one that is dropped counts the objects that refer to one`() throws {
        let old = Self.schema(1, Self.entity("A", Self.one("b", "B")), Self.entity("B"))
        let new = Self.schema(2, Self.entity("A"), Self.entity("B"))
        let store = try ChangedStore(
            old,
            [
                Sample("B", "b1"), Sample("B", "gone"), Sample("A", "a1", to: ["b": ["b1"]]),
                Sample("A", "a2", to: ["b": ["b1"]]), Sample("A", "a3"), Sample("A", "a4", to: ["b": ["gone"]]),
            ])
        try store.open(old) { _, context in
            for object in try context.fetch(FetchRequest(entityName: "B", filter: Filter.key("n") == "gone")) {
                context.delete(object)
            }
            try context.save()
        }
        #expect(try refusal(store, new) == "A.b of 2 objects")
        // The old state is active, and accepts saves.
        try store.open(old) { _, context in
            for object in try context.fetch(FetchRequest(entityName: "A")) { object["b"] = nil as ManagedObject? }
            try context.save()
        }
        #expect(try refusal(store, new) == nil)
    }

    @Test func `a to-many that is dropped counts the objects that have members`() throws {
        let old = Self.schema(1, Self.entity("A", Self.many("bs", "B")), Self.entity("B"))
        let new = Self.schema(2, Self.entity("A"), Self.entity("B"))
        let samples = [
            Sample("B", "b1"), Sample("B", "b2"), Sample("A", "a1", to: ["bs": ["b1", "b2"]]), Sample("A", "a2"),
        ]
        #expect(try refusal(old, new, samples) == "A.bs of 1 object")
        #expect(try refusal(old, new, Array(samples.dropFirst(3))) == nil)
    }

    @Test func `a relationship of which one side stays is not lost`() throws {
        let pair = Self.schema(
            1, Self.entity("A", Self.one("b", "B", "as")), Self.entity("B", Self.many("as", "A", "b")))
        let samples = [Sample("B", "b1"), Sample("A", "a1", to: ["b": ["b1"]])]
        let neither = Self.schema(2, Self.entity("A"), Self.entity("B"))
        #expect(try refusal(pair, neither, samples) == "A.b of 1 object")
        let ofA = Self.schema(2, Self.entity("A", Self.one("b", "B")), Self.entity("B"))
        #expect(try refusal(pair, ofA, samples) == nil)
        let ofB = Self.schema(2, Self.entity("A"), Self.entity("B", Self.many("as", "A")))
        #expect(try refusal(pair, ofB, samples) == nil)

        let many = Self.schema(
            1, Self.entity("A", Self.many("bs", "B", "as")), Self.entity("B", Self.many("as", "A", "bs")))
        let members = [Sample("B", "b1"), Sample("A", "a1", to: ["bs": ["b1"]]), Sample("A", "a2", to: ["bs": ["b1"]])]
        #expect(try refusal(many, neither, members) == "A.bs of 2 objects")
        // A removed object takes along the references to it.
        let alone = Self.schema(2, Self.entity("B"))
        #expect(try refusal(pair, alone, samples) == "A of 1 object")
    }

    @Test func `members of composite values that are dropped count where they have a value`() throws {
        func attribute(_ members: [Schema.Attribute]) -> Schema.CompositeAttribute {
            Schema.CompositeAttribute(name: "address", valueType: Address?.self, properties: members)
        }
        let name = Schema.Attribute(name: "name", valueType: String.self)
        let number = Schema.Attribute(name: "number", valueType: Int?.self)
        let city = Schema.Attribute(name: "city", valueType: String?.self)
        func street(_ members: [Schema.Attribute]) -> Schema.CompositeAttribute {
            Schema.CompositeAttribute(name: "street", valueType: Address.Street?.self, properties: members)
        }
        let old = Self.schema(1, Self.entity("A", attribute([city, street([name, number])])))
        func sample(_ n: String, _ city: String?, _ number: Int?) -> Sample {
            Sample("A", n, ["address": Address(city: city, street: Address.Street(name: "s", number: number))])
        }
        let samples = [
            sample("a1", "Rome", 1), sample("a2", nil, 2), sample("a3", nil, nil), Sample("A", "a4"),
            // Stored outside its row.
            sample("a5", String(repeating: "x", count: 10_000), 5),
        ]
        let withoutCity = Self.schema(2, Self.entity("A", attribute([street([name, number])])))
        #expect(try refusal(old, withoutCity, samples) == "A.address.city of 2 objects")
        let withoutNumber = Self.schema(2, Self.entity("A", attribute([city, street([name])])))
        #expect(try refusal(old, withoutNumber, samples) == "A.address.street.number of 3 objects")
        let withoutStreet = Self.schema(2, Self.entity("A", attribute([city])))
        #expect(try refusal(old, withoutStreet, samples) == "A.address.street of 4 objects")
        #expect(
            try refusal(old, Self.schema(2, Self.entity("A", attribute([city, street([name, number])]))), samples)
                == nil)
    }

    @Test func `no save comes between the check and the switch`() throws {
        let stores = Stores()
        let old = try stores.open(People1.self)
        defer { try? old.close() }
        let refusals = Box<[StorageError.Code]>([])
        let saves = Box(0)
        var options = MigrationOptions(unhandledData: .fail)
        options.progress = { progress in
            guard progress.pass == .switching else { return }
            let context = ModelContext(old)
            context.insert(People1.Badge(code: "late"))
            do {
                try context.save()
                saves.value += 1
            } catch {
                if let error = error as? StorageError { refusals.value.append(error.code) }
            }
        }
        try stores.use(People2.self, migration: options) { _, _ in }
        #expect(saves.value == 0)
        #expect(refusals.value.allSatisfy { $0 == .outdated } && !refusals.value.isEmpty)
        #expect(try stores.findings(People2.self) == [])
    }

    @Test func `a migration that is refused lets older containers save at once`() throws {
        let stores = Stores()
        let old = try stores.open(People1.self)
        defer { try? old.close() }
        let context = ModelContext(old)
        context.insert(People1.Badge(code: "b"))
        try context.save()
        #expect(throws: MigrationError.self) {
            try stores.open(People2.self, migration: MigrationOptions(unhandledData: .fail))
        }
        context.insert(People1.Badge(code: "c"))
        try context.save()
        try #expect(context.all(People1.Badge.self).count == 2)
    }
}
