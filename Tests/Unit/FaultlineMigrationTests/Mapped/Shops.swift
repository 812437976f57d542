import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import Foundation
import Testing

/// Stores with the objects of `Shop1`, and helpers that migrate them.
struct Shops {
    static let count = 60
    let stores: Stores

    static func photo(_ number: Int) -> Data {
        Data((0..<6_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ number) })
    }

    /// Every sixth item has a photo, all have shelves and tags, and posters have pictures.
    init(doubles: Int = 0, in stores: Stores = Stores()) throws {
        self.stores = stores
        try stores.use(Shop1.self) { _, context in
            let shelves = (0..<4).map { Shop1.Shelf(label: "s\($0)") }
            let tags = (0..<3).map { Shop1.Tag(word: "w\($0)") }
            for number in 0..<Self.count {
                let item = Shop1.Item(name: "i\(number)", price: Double(number) + 0.25)
                if number % 6 == 0 { item.photo = Self.photo(number) }
                context.insert(item)
                item.shelf = shelves[number % 4]
                item.tags = [tags[number % 3], tags[(number + 1) % 3]]
            }
            for number in 0..<doubles {
                let item = Shop1.Item(name: "i\(number)", price: -1)
                item.photo = Self.photo(1_000 + number)
                context.insert(item)
            }
            for number in 0..<2 {
                let poster = Shop1.Poster(text: "p\(number)")
                poster.picture = Self.photo(2_000 + number)
                context.insert(poster)
            }
            try context.save()
        }
    }

    var blobCount: Int { Self.count / 6 }

    /// Opens the store under `version` by the stages, calls the closure, and closes the store.
    @discardableResult
    func migrate<R>(
        to version: any VersionedSchema.Type = Shop2.self, _ stages: [MigrationStage],
        _ options: MigrationOptions = MigrationOptions(), _ body: (ModelContainer, ModelContext) throws -> R
    ) throws -> R {
        try ShopStages.$current.withValue(ShopStages(stages)) {
            try stores.use(version, ShopPlan.self, migration: options, body)
        }
    }

    /// The error that a migration stops with.
    func failure(
        to version: any VersionedSchema.Type = Shop2.self, _ stages: [MigrationStage],
        _ options: MigrationOptions = MigrationOptions()
    ) throws -> MigrationError? {
        #expect(throws: MigrationError.self) { try migrate(to: version, stages, options) { _, _ in } }
    }

    /// Checks that the store has its old state under the old schema, and accepts writes.
    func checkOld(doubles: Int = 0) throws {
        try stores.use(Shop1.self) { container, context in
            let items = try context.all(Shop1.Item.self)
            #expect(items.count == Self.count + doubles)
            for item in items where item.price >= 0 {
                let number = Int(item.name.dropFirst()) ?? -1
                #expect(item.price == Double(number) + 0.25)
                #expect(item.photo == (number % 6 == 0 ? Self.photo(number) : nil))
                #expect(item.shelf?.label == "s\(number % 4)")
                #expect(Set(item.tags.map(\.word)) == ["w\(number % 3)", "w\((number + 1) % 3)"])
            }
            #expect(try context.all(Shop1.Poster.self).map { $0.picture?.count } == [6_000, 6_000])
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == blobCount + doubles + 2)
            let shelf = Shop1.Shelf(label: "new")
            context.insert(shelf)
            try context.save()
            context.delete(shelf)
            try context.save()
        }
        #expect(try stores.findings(Shop1.self) == [])
    }

    /// Checks the data that no stage of the tests changes: relationships and photos.
    static func checkItems(_ context: ModelContext, _ numbers: [Int] = Array(0..<count)) throws {
        let items = try context.all(Shop2.Item.self).sorted { number($0.name) < number($1.name) }
        #expect(items.map { number($0.name) } == numbers)
        for item in items {
            let number = number(item.name)
            #expect(item.price == Double(number) + 0.25)
            #expect(item.photo == (number % 6 == 0 ? photo(number) : nil))
            #expect(item.shelf?.label == "s\(number % 4)")
            #expect(Set(item.tags.map(\.word)) == ["w\(number % 3)", "w\((number + 1) % 3)"])
        }
        for shelf in try context.all(Shop2.Shelf.self) {
            let place = Int(shelf.label.dropFirst()) ?? -1
            #expect(shelf.items.map { self.number($0.name) }.sorted() == numbers.filter { $0 % 4 == place })
        }
        for tag in try context.all(Shop2.Tag.self) {
            let place = Int(tag.word.dropFirst()) ?? -1
            let expected = numbers.filter { $0 % 3 == place || ($0 + 1) % 3 == place }
            #expect(tag.items.map { self.number($0.name) }.sorted() == expected)
        }
    }

    static func number(_ name: String) -> Int { Int(name.dropFirst()) ?? -1 }
}
