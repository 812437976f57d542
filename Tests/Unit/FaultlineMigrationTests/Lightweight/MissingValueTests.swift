import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import Foundation
import Testing

/// Rows without a value keep the default that was added with the property, even if that default changes later.
@Suite struct MissingValueTests {
    /// Two stamps of the first version, one of them with a place.
    private func makeStamps(isOnDisk: Bool = false) throws -> Stores {
        let stores = Stores(isOnDisk: isOnDisk)
        try stores.use(Stamps1.self) { _, context in
            context.insert(Stamps1.Stamp(name: "a"))
            let stamp = Stamps1.Stamp(name: "b")
            stamp.place = "own"
            context.insert(stamp)
            try context.save()
        }
        return stores
    }

    private func checkLater(_ context: ModelContext) throws {
        let stamps = try context.all(Stamps2Later.Stamp.self).sorted { $0.name < $1.name }
        #expect(stamps.map(\.name) == ["a", "b", "c"])
        #expect(stamps.map(\.rank) == [1, 1, 2])
        #expect(stamps.map(\.place) == ["first", "own", "second"])
        #expect(stamps.map(\.note) == [nil, nil, "new"])
        #expect(stamps.map(\.tags) == [["a"], ["a"], ["b", "c"]])
        #expect(stamps.map(\.printed.timeIntervalSinceReferenceDate) == [1, 1, 2])
        func names(_ predicate: Predicate<Stamps2Later.Stamp>) throws -> [String] {
            try context.fetch(FetchDescriptor(predicate: predicate)).map(\.name).sorted()
        }
        let ofRankOne = try names(#Predicate { $0.rank == 1 })
        #expect(ofRankOne == ["a", "b"])
        let ofHigherRank = try names(#Predicate { $0.rank > 1 })
        #expect(ofHigherRank == ["c"])
        let ofFirstPlace = try names(#Predicate { $0.place == "first" })
        #expect(ofFirstPlace == ["a"])
        let ofOtherPlaces = try names(#Predicate { $0.place != "second" })
        #expect(ofOtherPlaces == ["a", "b"])
        let withoutNotes = try names(#Predicate { $0.note == nil })
        #expect(withoutNotes == ["a", "b"])
        let sorted = FetchDescriptor<Stamps2Later.Stamp>(
            sortBy: [SortDescriptor(\.rank, order: .reverse), SortDescriptor(\.name)])
        #expect(try context.fetch(sorted).map(\.name) == ["c", "a", "b"])
    }

    @Test func `a default that changes without a version is that of new objects only`() throws {
        let stores = try makeStamps()
        try stores.use(Stamps2.self) { _, context in
            try #expect(context.all(Stamps2.Stamp.self).map(\.rank) == [1, 1])
        }
        try stores.use(Stamps2Later.self) { _, context in
            context.insert(Stamps2Later.Stamp(name: "c"))
            try context.save()
            try checkLater(context)
        }
        try stores.use(Stamps2Later.self) { container, context in
            // Before any of them was saved.
            try #expect(container.rewrite().writtenCount == 2)
            try checkLater(context)
            try checkLater(ModelContext(container))
        }
        try stores.use(Stamps2Later.self) { _, context in
            try checkLater(context)
            // A row that is written again keeps its value.
            for stamp in try context.all(Stamps2Later.Stamp.self) { stamp.name = stamp.name.uppercased() }
            try context.save()
            for stamp in try context.all(Stamps2Later.Stamp.self) { stamp.name = stamp.name.lowercased() }
            try context.save()
            try checkLater(context)
        }
        #expect(try stores.findings(Stamps2Later.self).isEmpty)
    }

    @Test func `objects without classes have the same values`() throws {
        let stores = try makeStamps(isOnDisk: true)
        try stores.use(Stamps2.self) { _, _ in }
        try stores.use(Stamps2Later.self) { _, _ in }
        let container = try ModelContainer(opening: ModelConfiguration(url: URL(filePath: stores.directory)))
        defer { try? container.close() }
        let context = ModelContext(container)
        let stamps = try context.fetch(FetchRequest(entityName: "Stamp", filter: Filter.key("rank") == 1))
        #expect(stamps.compactMap { $0["name"] as? String }.sorted() == ["a", "b"])
        #expect(stamps.allSatisfy { $0["rank"] as? Int32 == 1 && $0["note"] == nil })
        #expect(try context.fetch(FetchRequest(entityName: "Stamp", filter: Filter.key("rank") == 2)).isEmpty)
    }

    private func checkThird(_ stores: Stores, _ plan: any SchemaMigrationPlan.Type, _ words: Comment) throws {
        try stores.use(Stamps3.self, plan) { _, context in
            let stamps = try context.all(Stamps3.Stamp.self).sorted { $0.name < $1.name }
            #expect(stamps.map(\.grade) == [1, 1], words)
            // It was required once, so it has had a value since then.
            #expect(stamps.map(\.place) == ["first", "own"], words)
            #expect(stamps.map(\.note) == [nil, nil], words)
            #expect(stamps.map(\.tags) == [["a"], ["a"]], words)
            let first = FetchDescriptor<Stamps3.Stamp>(predicate: #Predicate { $0.place == "first" && $0.grade == 1 })
            #expect(try context.fetchCount(first) == 1, words)
            let none = FetchDescriptor<Stamps3.Stamp>(predicate: #Predicate { $0.place == nil })
            #expect(try context.fetchCount(none) == 0, words)
        }
        #expect(try stores.findings(Stamps3.self).isEmpty, words)
    }

    @Test(arguments: [StampsPlan.self, CopyingStampsPlan.self] as [any SchemaMigrationPlan.Type])
    func `values do not depend on how many versions are gone through at once`(
        _ plan: any SchemaMigrationPlan.Type
    ) throws {
        try checkThird(try makeStamps(), plan, "at once")
        let stores = try makeStamps()
        try stores.use(Stamps2.self, plan) { _, _ in }
        try checkThird(stores, plan, "one by one")
        try checkThird(stores, plan, "again")
    }

    @Test func `a catalog that does not say it means the default that was in force`() throws {
        let stores = try makeStamps()
        try stores.use(Stamps2.self) { container, _ in
            // The catalog as a release wrote it that did not keep the values.
            var map = container.rowStore.storage.map
            #expect(map.entities[0].columns.contains { $0.missing != nil })
            for column in map.entities[0].columns.indices { map.entities[0].columns[column].missing = nil }
            _ = try container.rowStore.log.write(author: nil) { transaction in
                try StoredCatalog.put(map, StoredCatalog.RecordNumber.entityMap, in: &transaction)
            }
        }
        try stores.use(Stamps2.self) { _, context in
            let stamps = try context.all(Stamps2.Stamp.self).sorted { $0.name < $1.name }
            #expect(stamps.map(\.place) == ["first", "own"])
            #expect(stamps.map(\.rank) == [1, 1])
        }
        try stores.use(Stamps2Later.self) { _, context in
            context.insert(Stamps2Later.Stamp(name: "c"))
            try context.save()
            try checkLater(context)
        }
    }

    @Test func `a container of before a change of defaults goes on saving`() throws {
        let stores = try makeStamps()
        try stores.use(Stamps2.self) { _, _ in }
        try stores.use(Stamps2.self) { _, context in
            try stores.use(Stamps2Later.self) { _, _ in }
            context.insert(Stamps2.Stamp(name: "c"))
            try context.save()
        }
    }

    @Test func `a default that was taken is none of a unique value's later`() throws {
        let word = SchemaChange.self
        let first = Schema(entities: [word.entity("Note")])
        func later(_ unique: [[String]], _ rank: Int, _ number: Int) -> Schema {
            Schema(
                entities: [word.entity("Note", word.value("rank", Int.self, default: rank), unique: unique)],
                version: Schema.Version(number, 0, 0))
        }
        let store = try ChangedStore(first, [SchemaChange.Sample("Note", "one")])
        try store.open(later([], 1, 2)) { _, _ in }
        try store.open(later([], 2, 2)) { _, context in
            try #expect(store.outcome(context) == ["Note one rank=1"])
        }
        #expect { try store.open(later([["rank"]], 2, 3)) { _, _ in } } throws: {
            ($0 as? MigrationError)?.code == .duplicate
        }
    }
}
