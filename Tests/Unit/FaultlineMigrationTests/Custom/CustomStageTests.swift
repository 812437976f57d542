import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import Foundation
import Testing

/// The behavior of custom stages, by the numbered statements about SwiftData's behavior where one applies.
struct CustomStageTests {
    private static let removeDoubles: ShopStages.Closure = { context in
        var seen: Set<String> = []
        for item in try context.all(Shop1.Item.self) where !seen.insert(item.name).inserted {
            context.delete(item)
        }
        try context.save()
    }

    private static let fillCents: ShopStages.Closure = { context in
        for item in try context.all(Shop2.Item.self) { item.cents = Int(item.price * 100) }
        try context.save()
    }

    // MARK: Statements

    @Test func `S59: needed stages alone run, in their order`() throws {
        let shops = try Shops()
        let order = Box<[String]>([])
        let stages = [
            ShopStages.custom(will: { _ in order.value.append("w1") }, did: { _ in order.value.append("d1") }),
            ShopStages.second(will: { _ in order.value.append("w2") }, did: { _ in order.value.append("d2") }),
        ]
        try shops.migrate(stages.dropLast()) { container, _ in
            #expect(container.migrationReport.versions == ["1.0.0", "2.0.0"])
        }
        try shops.migrate(to: Shop3.self, stages) { container, _ in
            #expect(container.migrationReport.versions == ["2.0.0", "3.0.0"])
        }
        #expect(order.value == ["w1", "d1", "w2", "d2"])
        try shops.migrate(to: Shop3.self, stages) { container, _ in
            #expect(container.migrationReport.versions.isEmpty)
        }
        #expect(order.value.count == 4)
    }

    @Test func `S61: each closure has a context of its own, which knows its version's classes alone`() throws {
        let shops = try Shops()
        let contexts = Box<[ModelContext]>([])
        try shops.migrate([
            ShopStages.custom(
                will: { context in
                    try #expect(context.fetchCount(FetchDescriptor<Shop1.Poster>()) == 2)
                    contexts.value.append(context)
                },
                did: { context in
                    try #expect(context.fetchCount(FetchDescriptor<Shop2.Maker>()) == 0)
                    contexts.value.append(context)
                })
        ]) { _, _ in }
        #expect(contexts.value.count == 2 && contexts.value[0] != contexts.value[1])
    }

    @Test(arguments: UniquenessPolicy.allCases)
    func `an object that is inserted under another policy than update stops the stage`(
        policy: UniquenessPolicy
    ) throws {
        let shops = try Shops()
        let stage = ShopStages.custom(will: { context in
            context.insert(Shop1.Item(name: "new", price: 1), onConflict: policy)
            try? context.save()
        })
        if policy == .update { return try shops.migrate([stage]) { _, _ in } }
        let error = try shops.failure([stage])
        #expect(error?.code == .stageFailed)
        #expect(error?.cause as? SwiftDataError == .modelValidationFailure)
        #expect(error?.description.contains("onConflict: .\(policy)") == true, "\(String(describing: error))")
    }

    @Test func `S61: an object of another version's class stops the stage, caught or not, and is named`() throws {
        let shops = try Shops()
        let inserting = try shops.failure([
            ShopStages.custom(will: { context in
                context.insert(Shop2.Item(name: "new", price: 1))
                try? context.save()
            })
        ])
        let fetching = try shops.failure([
            ShopStages.custom(did: { context in _ = try? context.fetch(FetchDescriptor<Shop1.Poster>()) })
        ])
        for (error, closure, type) in [
            (inserting, "willMigrate", "Shop2.Item"), (fetching, "didMigrate", "Shop1.Poster"),
        ] {
            #expect(error?.code == .stageFailed)
            #expect(error?.cause as? SwiftDataError == .unknownSchema)
            #expect(error?.message.contains("\(closure) of the custom stage from 1.0.0 to 2.0.0") == true)
            #expect(error?.description.contains(type) == true, "\(String(describing: error))")
        }
        // The change was not saved, so nothing would be lost. The stage still refuses it, because the closure intended
        // it.
        let unsaved = try shops.failure([
            ShopStages.custom(will: { context in context.insert(Shop2.Item(name: "new", price: 1)) })
        ])
        #expect(unsaved?.code == .stageFailed)
        try shops.checkOld()
    }

    @Test func `S62: values go across in a variable`() throws {
        let shops = try Shops()
        let texts = Box<[String: Data?]>([:])
        try shops.migrate([
            ShopStages.custom(
                will: { context in
                    for poster in try context.all(Shop1.Poster.self) { texts.value[poster.text] = poster.picture }
                },
                did: { context in
                    for (text, picture) in texts.value.sorted(by: { $0.key < $1.key }) {
                        let maker = Shop2.Maker(text: text)
                        maker.picture = picture
                        context.insert(maker)
                    }
                    try context.save()
                })
        ]) { container, context in
            let makers = try context.all(Shop2.Maker.self)
            #expect(makers.map(\.text).sorted() == ["p0", "p1"])
            #expect(makers.map { $0.picture?.count } == [6_000, 6_000])
            try Shops.checkItems(context)
            // The posters' own pictures are removed with them.
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == shops.blobCount + 2)
        }
        #expect(try shops.stores.findings(Shop2.self) == [])
    }

    @Test func `S63: changes that a closure does not save are lost, and counted`() throws {
        let shops = try Shops()
        try shops.migrate([
            ShopStages.custom(
                will: { context in
                    for shelf in try context.all(Shop1.Shelf.self) { context.delete(shelf) }
                },
                did: { context in
                    for item in try context.all(Shop2.Item.self).prefix(5) { item.cents = 9 }
                    context.insert(Shop2.Maker(text: "m"))
                })
        ]) { container, context in
            #expect(container.migrationReport.changesNotSaved == 4 + 6)
            #expect(container.migrationReport.objectsWritten == 0)
            try Shops.checkItems(context)
            try #expect(context.all(Shop2.Item.self).allSatisfy { $0.cents == 0 })
            try #expect(context.fetchCount(FetchDescriptor<Shop2.Maker>()) == 0)
        }
        #expect(try shops.stores.findings(Shop2.self) == [])
    }

    @Test func `S64: without closures it is a lightweight stage`() throws {
        let shops = try Shops()
        try shops.migrate([ShopStages.custom()]) { container, context in
            #expect(container.migrationReport.objectsCopied == 0)
            try Shops.checkItems(context)
        }
        #expect(try shops.stores.findings(Shop2.self) == [])
    }

    @Test(arguments: [false, true])
    func `S65, M27 (vapor#1223): an error of a closure stops the migration in the old state`(isSecond: Bool) throws {
        struct Stopped: Error {}
        let shops = try Shops()
        let change: ShopStages.Closure = { context in
            for shelf in try context.all(Shop1.Shelf.self) { context.delete(shelf) }
            try context.save()
            if !isSecond { throw Stopped() }
        }
        let error = try shops.failure([ShopStages.custom(will: change, did: { _ in throw Stopped() })])
        #expect(error?.code == .stageFailed)
        #expect(error?.cause is Stopped)
        #expect(error?.message.contains(isSecond ? "didMigrate" : "willMigrate") == true)
        try shops.checkOld()
        // The migration runs again, to the end.
        try shops.migrate([ShopStages.custom(did: Self.fillCents)]) { container, context in
            #expect(container.migrationReport.resumes == 0)
            try Shops.checkItems(context)
            try #expect(context.all(Shop2.Item.self).allSatisfy { $0.cents == Int($0.price * 100) })
        }
        #expect(try shops.stores.findings(Shop2.self) == [])
    }

    @Test func `S68: duplicates that willMigrate removes do not hinder a new unique attribute`() throws {
        let shops = try Shops(doubles: 7)
        // Without the closure the change fails.
        let alone = try shops.failure([ShopStages.light])
        #expect(alone?.code == .duplicate)
        let late = try shops.failure([ShopStages.custom(did: { _ in })])
        #expect(late?.code == .duplicate)
        let missed = try shops.failure([ShopStages.custom(will: { _ in })])
        #expect(missed?.code == .duplicate)
        #expect([alone, late, missed].allSatisfy { $0?.stage != nil && $0?.entityName == "Item" && $0?.object != nil })
        try shops.checkOld(doubles: 7)
        try shops.migrate([ShopStages.custom(will: Self.removeDoubles)]) { container, context in
            try Shops.checkItems(context)
            #expect(container.migrationReport.objectsDeleted == 7)
            #expect(container.migrationReport.blobsLeftBehind == 7)
            // Neither the removed photos nor the posters' pictures are in the store.
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == shops.blobCount)
            context.insert(Shop2.Item(name: "i1", price: 5))
            try context.save()
            try #expect(context.fetchCount(FetchDescriptor<Shop2.Item>()) == Shops.count)
        }
        #expect(try shops.stores.findings(Shop2.self) == [])
    }

    @Test func `S69: a class that the new version does not list is gone with its objects`() throws {
        let shops = try Shops()
        try shops.migrate([ShopStages.custom(will: { _ in }, did: { _ in })]) { container, context in
            try Shops.checkItems(context)
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == shops.blobCount)
            #expect(container.migrationReport.objectsCopied == Shops.count + 4 + 3 + 2)
        }
        #expect(try shops.stores.findings(Shop2.self) == [])
    }

    // MARK: Contexts

    @Test func `a caught failure of a save stops the stage`() throws {
        let shops = try Shops()
        let error = try shops.failure([
            ShopStages.custom(did: { context in
                let items = try context.all(Shop2.Item.self)
                items[0].name = items[1].name
                try? context.save()
                context.rollback()
            })
        ])
        #expect(error?.code == .stageFailed)
        #expect(error?.cause as? SwiftDataError == .modelValidationFailure)
        try shops.checkOld()
    }

    @Test func `an error that a closure catches does not stop the stage`() throws {
        struct Own: Error {}
        let shops = try Shops()
        try shops.migrate([
            ShopStages.custom(did: { context in
                _ = try? context.enumerate(FetchDescriptor<Shop2.Item>()) { _ in throw Own() }
            })
        ]) { _, context in try Shops.checkItems(context) }
    }

    @Test func `context.container makes contexts that see the objects of the closure`() throws {
        let shops = try Shops()
        let leaked = Box<ModelContainer?>(nil)
        try shops.migrate([
            ShopStages.custom(
                will: { context in
                    let container = context.container
                    #expect(container.schema.entitiesByName["Poster"] != nil)
                    let other = ModelContext(container)
                    for poster in try other.all(Shop1.Poster.self) { other.delete(poster) }
                    try other.save()
                    try #expect(context.fetchCount(FetchDescriptor<Shop1.Poster>()) == 0)
                    try container.close()
                },
                did: { context in
                    leaked.value = context.container
                    let other = ModelContext(context.container)
                    other.insert(Shop2.Maker(text: "m"))
                    try other.save()
                    #expect(context.container.configurations.count == 1)
                })
        ]) { container, context in
            #expect(container.migrationReport.objectsDeleted == 2)
            try #expect(context.all(Shop2.Maker.self).map(\.text) == ["m"])
            // A context of a completed stage cannot save.
            let late = try ModelContext(#require(leaked.value))
            late.insert(Shop2.Maker(text: "late"))
            let error = #expect(throws: StorageError.self) { try late.save() }
            #expect(error?.code == .outdated)
            try #expect(context.fetchCount(FetchDescriptor<Shop2.Maker>()) == 1)
        }
        #expect(try shops.stores.findings(Shop2.self) == [])
    }

    @Test func `opening the store from inside of a closure is refused, and does not wait for itself`() throws {
        let shops = try Shops()
        try shops.migrate([
            ShopStages.custom(did: { _ in
                let error = #expect(throws: MigrationError.self) { try shops.stores.open(Shop1.self) }
                #expect(error?.message.contains("context.container") == true)
            })
        ]) { _, context in try Shops.checkItems(context) }
    }

    @Test func `M7 (AppleForums 758874, 779790): delete rules, links and enumerate work as elsewhere`() throws {
        let shops = try Shops()
        try shops.migrate([
            ShopStages.custom(
                will: { context in
                    // Cascades to the shelf's items, whose photos belong to the old state.
                    let shelf = try #require(try context.all(Shop1.Shelf.self).first { $0.label == "s2" })
                    context.delete(shelf)
                    try context.save()
                },
                did: { context in
                    var done = 0
                    try context.enumerate(FetchDescriptor<Shop2.Item>(), batchSize: 10, allowEscapingMutations: true) {
                        item in
                        item.cents = Int(item.price * 100)
                        done += 1
                        if done % 10 == 0 { try context.save() }
                    }
                    try context.save()
                    let tag = try #require(try context.all(Shop2.Tag.self).first { $0.word == "w0" })
                    let other = try #require(try context.all(Shop2.Tag.self).first { $0.word == "w1" })
                    for item in tag.items where !item.tags.contains(other) { item.tags.append(other) }
                    context.delete(tag)
                    try context.save()
                })
        ]) { container, context in
            let numbers = (0..<Shops.count).filter { $0 % 4 != 2 }
            let items = try context.all(Shop2.Item.self)
            #expect(items.map { Shops.number($0.name) }.sorted() == numbers)
            for item in items {
                let number = Shops.number(item.name)
                #expect(item.cents == number * 100 + 25)
                #expect(item.photo == (number % 6 == 0 ? Shops.photo(number) : nil))
                #expect(
                    Set(item.tags.map(\.word))
                        == (number % 3 == 1 ? ["w1", "w2"] : number % 3 == 2 ? ["w1", "w2"] : ["w1"]))
            }
            let photos = numbers.filter { $0 % 6 == 0 }.count
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == photos)
        }
        #expect(try shops.stores.findings(Shop2.self) == [])
    }

    @Test func `objects keep their identifiers, and new ones get others`() throws {
        let shops = try Shops()
        let before = try shops.stores.use(Shop1.self) { _, context in
            let doomed = Shop1.Item(name: "doomed", price: 0)
            context.insert(doomed)
            try context.save()
            let number = doomed.persistentModelID
            context.delete(doomed)
            try context.save()
            return try (number, Dictionary(context.all(Shop1.Item.self).map { ($0.name, $0.persistentModelID) }) { $1 })
        }
        try shops.migrate([ShopStages.custom(did: Self.fillCents)]) { _, context in
            let after = try Dictionary(context.all(Shop2.Item.self).map { ($0.name, $0.persistentModelID) }) { $1 }
            #expect(before.1 == after)
            let new = Shop2.Item(name: "new", price: 1)
            context.insert(new)
            try context.save()
            #expect(new.persistentModelID != before.0)
            #expect(!after.values.contains(new.persistentModelID))
        }
    }
}
