import Faultline
import FaultlineMigration
import Foundation
import Testing

/// Attributes that a mapping copies have the same values before and after.
struct CopiedValueTests {
    static let date = Date(timeIntervalSinceReferenceDate: 1.25)
    static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    static let texts = ["", "plain", "é, e\u{301}, 日本", String(repeating: "long ", count: 5_000)]

    private func made() throws -> Stores {
        let stores = Stores()
        try stores.use(Kinds1.self) { _, context in
            for (number, text) in Self.texts.enumerated() {
                let thing = Kinds1.Thing(number: number, text: text)
                if number > 0 { thing.fill() }
                context.insert(thing)
            }
            try context.save()
        }
        return stores
    }

    private func check(_ stores: Stores, _ model: MappingModel, texts: [String] = Self.texts) throws {
        try KindsPlan.$model.withValue(model) {
            try stores.use(Kinds2.self, KindsPlan.self) { _, context in
                let things = try context.all(Kinds2.Thing.self).sorted { $0.number < $1.number }
                #expect(things.map(\.text) == texts)
                for thing in things {
                    let isFull = thing.number > 0
                    #expect(thing.flag == isFull && thing.tiny == (isFull ? -3 : 7))
                    #expect(thing.large == (isFull ? .max : nil) && thing.half == (isFull ? 0.5 : nil))
                    #expect(thing.date == (isFull ? Self.date : nil) && thing.uuid == (isFull ? Self.uuid : nil))
                    #expect(thing.sum == (isFull ? Decimal(string: "12.50") : nil))
                    #expect(thing.note == (isFull ? "note" : nil))
                    #expect(thing.link == (isFull ? URL(string: "https://example.org/a?b") : nil))
                    #expect(thing.bytes == (isFull ? Data([1, 0, 2]) : nil))
                    #expect(thing.parts == (isFull ? ["a", "b"] : []))
                    #expect(thing.level == (isFull ? 2.0 : 1.0) && thing.added == "new")
                }
            }
        }
        #expect(try stores.findings(Kinds2.self) == [])
    }

    @Test func `values of all kinds, nil and defaults`() throws {
        try check(try made(), MappingModel(EntityMapping(from: "Thing", to: "Thing")))
        for policy in [EntityMigrationPolicy.self, PlainPolicy.self] {
            try check(try made(), MappingModel(EntityMapping(from: "Thing", to: "Thing", policy: policy)))
        }
    }

    @Test func `a value that a policy has changed in the old object is the one that is copied`() throws {
        let policy = EntityMapping(from: "Thing", to: "Thing", policy: ShoutingPolicy.self)
        try check(try made(), MappingModel(policy), texts: Self.texts.map { $0 + "!" })
    }
}

/// Adds nothing to the mapping, but could.
private final class PlainPolicy: EntityMigrationPolicy {}

private final class ShoutingPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        sInstance["text"] = "\(sInstance["text"] as? String ?? "")!"
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }
}

private enum KindsPlan: SchemaMigrationPlan {
    @TaskLocal static var model = MappingModel()

    static var schemas: [any VersionedSchema.Type] { [Kinds1.self, Kinds2.self] }
    static var stages: [MigrationStage] { [.mapped(fromVersion: Kinds1.self, toVersion: Kinds2.self, model)] }
}

private enum Kinds1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Thing.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Thing {
        var number: Int
        var text: String
        var flag: Bool = false
        var tiny: Int8 = 7
        var large: UInt64?
        var half: Float?
        var level: Float = 1
        var date: Date?
        var uuid: UUID?
        var sum: Decimal?
        var note: String?
        var link: URL?
        var bytes: Data?
        var parts: [String] = []

        init(number: Int, text: String) {
            self.number = number
            self.text = text
        }

        func fill() {
            flag = true
            tiny = -3
            large = .max
            half = 0.5
            level = 2
            date = CopiedValueTests.date
            uuid = CopiedValueTests.uuid
            sum = Decimal(string: "12.50")
            note = "note"
            link = URL(string: "https://example.org/a?b")
            bytes = Data([1, 0, 2])
            parts = ["a", "b"]
        }
    }
}

/// The same, with a wider number and one more attribute.
private enum Kinds2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Thing.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Thing {
        var added: String = "new"
        var number: Int
        var text: String
        var flag: Bool = true
        var tiny: Int8 = 8
        var large: UInt64?
        var half: Float?
        var level: Double = 3
        var date: Date?
        var uuid: UUID?
        var sum: Decimal?
        var note: String?
        var link: URL?
        var bytes: Data?
        var parts: [String] = []

        init(number: Int, text: String) {
            self.number = number
            self.text = text
        }
    }
}
