import Faultline
import FaultlineMigration
import FaultlineObjects
import Foundation
import Testing

/// Attributes that a mapping copies from row to row: from rows of an older layout, and of special kinds.
struct CopiedLayoutTests {
    /// Migrates by a policy without code of its own.
    ///
    /// - Returns: The attributes of each object that were copied from row to row.
    private func migrate(
        _ stores: Stores, to version: any VersionedSchema.Type, _ plan: any SchemaMigrationPlan.Type,
        _ body: (ModelContext) throws -> Void
    ) throws -> [String] {
        let notes = PolicyNotes()
        try PolicyNotes.$current.withValue(notes) {
            try stores.use(version, plan) { _, context in try body(context) }
        }
        #expect(try stores.findings(version) == [])
        return notes.all
    }

    @Test func `rows of an older layout`() throws {
        let stores = Stores()
        try stores.use(Layout0.self) { _, context in
            for number in 0..<3 {
                context.insert(
                    Layout0.Thing(
                        number: number == 2 ? .min : Int32(number), half: Float(number) / 2, before: "t\(number)",
                        word: number == 1 ? nil : "w\(number)"))
            }
            try context.save()
        }
        // The lightweight stage in front does not write the rows.
        let copied = try migrate(stores, to: Layout2.self, LayoutPlan.self) { context in
            let things = try context.all(Layout2.Thing.self).sorted { $0.half < $1.half }
            #expect(things.map(\.number) == [0, 1, Int(Int32.min)] && things.map(\.half) == [0, 0.5, 1])
            #expect(things.map(\.name) == ["t0", "t1", "t2"] && things.map(\.word) == ["w0", "none", "w2"])
            #expect(things.allSatisfy { $0.count == 5 && $0.text == "text" && $0.extra })
        }
        // Defaults that a row lacks are set.
        #expect(copied == ["half name number word", "half name number", "half name number word"])
    }

    @Test func `raw values, large texts, and attributes with indexes`() throws {
        let stores = Stores()
        let long = String(repeating: "é", count: 25_000)
        try stores.use(Rich1.self) { _, context in
            for number in 0..<3 {
                let thing = Rich1.Thing(code: "c\(number)", rank: 10 - number)
                thing.color = number == 1 ? .blue : .red
                thing.size = number == 1 ? .large : .small
                thing.text = number == 2 ? "short" : long + "\(number)"
                // The longest text in a row, and and others outside of it.
                thing.inRow = String(repeating: "i", count: 4_095)
                thing.outside = String(repeating: "o", count: 4_096)
                thing.below = String(repeating: "b", count: 16_383)
                thing.least = String(repeating: "l", count: 16_384)
                context.insert(thing)
            }
            try context.save()
        }
        let copied = try migrate(stores, to: Rich2.self, RichPlan.self) { context in
            let things = try context.fetch(FetchDescriptor<Rich2.Thing>(sortBy: [SortDescriptor(\.code)]))
            #expect(things.map(\.code) == ["c0", "c1", "c2"] && things.map(\.rank) == [10, 9, 8])
            #expect(things.map(\.color) == [.red, .blue, .red] && things.map(\.size) == [.small, .large, .small])
            #expect(things.map(\.text) == [long + "0", long + "1", "short"])
            #expect(things.allSatisfy { $0.inRow == String(repeating: "i", count: 4_095) })
            #expect(things.allSatisfy { $0.outside == String(repeating: "o", count: 4_096) })
            #expect(things.allSatisfy { $0.below == String(repeating: "b", count: 16_383) })
            #expect(things.allSatisfy { $0.least == String(repeating: "l", count: 16_384) })
            let byCode = try context.fetch(FetchDescriptor<Rich2.Thing>(predicate: #Predicate { $0.code == "c1" }))
            let byRank = try context.fetch(FetchDescriptor<Rich2.Thing>(predicate: #Predicate { $0.rank == 9 }))
            #expect(byCode.map(\.rank) == [9] && byRank.map(\.code) == ["c1"])
        }
        #expect(copied == Array(repeating: "code color inRow rank size", count: 3))
    }
}

/// Notes the attributes of each object that can be copied from row to row, and checks that the mapping has copied them.
private final class CopyingPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        func count() -> Int { manager.destinationContext.core.reports.walked.copiedValues }
        let before = count()
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let copied = count() - before
        let made = try manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        let names = try #require(manager.destinationEntity(for: mapping)).attributesByName.keys.sorted()
        let plain = names.filter { made.first?.copyValue(forKey: $0, from: sInstance, $0) == true }
        #expect(copied == plain.count)
        PolicyNotes.current.add(plain.joined(separator: " "))
    }
}

private let copying = MappingModel(EntityMapping(from: "Thing", to: "Thing", policy: CopyingPolicy.self))

private enum LayoutPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Layout0.self, Layout1.self, Layout2.self] }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: Layout0.self, toVersion: Layout1.self),
            .mapped(fromVersion: Layout1.self, toVersion: Layout2.self, copying),
        ]
    }
}

private enum Layout0: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Thing.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Thing {
        var number: Int32
        var half: Float
        var before: String
        var word: String?

        init(number: Int32, half: Float, before: String, word: String?) {
            self.number = number
            self.half = half
            self.before = before
            self.word = word
        }
    }
}

/// Wider, renamed and required attributes, and two more.
private enum Layout1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Thing.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Thing {
        var number: Int
        var half: Double
        @Attribute(originalName: "before") var name: String
        var word: String = "none"
        var count: Int = 5
        var text: String = "text"

        init(number: Int, half: Double, name: String) {
            self.number = number
            self.half = half
            self.name = name
        }
    }
}

private enum Layout2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Thing.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

    @Model final class Thing {
        var extra: Bool = true
        var number: Int
        var half: Double
        var name: String
        var word: String = "other"
        var count: Int = 6
        var text: String = "other"

        init(number: Int, half: Double, name: String) {
            self.number = number
            self.half = half
            self.name = name
        }
    }
}

private enum RichPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Rich1.self, Rich2.self] }
    static var stages: [MigrationStage] { [.mapped(fromVersion: Rich1.self, toVersion: Rich2.self, copying)] }
}

private enum CopiedColor: String, Codable { case red, blue }
private enum CopiedSize: Int, Codable { case small = 3, large = 70 }

private enum Rich1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Thing.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Thing {
        #Index<Thing>([\.rank])
        @Attribute(.unique) var code: String
        var rank: Int
        var color: CopiedColor = CopiedColor.red
        var size: CopiedSize = CopiedSize.small
        @Attribute(.externalStorage) var text: String = ""
        var inRow: String = ""
        var outside: String = ""
        var below: String = ""
        var least: String = ""

        init(code: String, rank: Int) {
            self.code = code
            self.rank = rank
        }
    }
}

private enum Rich2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Thing.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Thing {
        #Index<Thing>([\.rank])
        var extra: Bool = true
        @Attribute(.unique) var code: String
        var rank: Int
        var color: CopiedColor = CopiedColor.red
        var size: CopiedSize = CopiedSize.small
        @Attribute(.externalStorage) var text: String = ""
        var inRow: String = ""
        var outside: String = ""
        var below: String = ""
        var least: String = ""

        init(code: String, rank: Int) {
            self.code = code
            self.rank = rank
        }
    }
}
