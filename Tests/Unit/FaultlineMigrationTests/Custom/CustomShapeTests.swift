import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import Foundation
import Testing

/// Common kinds of custom migrations.
struct CustomShapeTests {
    @Test func `fill after: new columns are made of old ones, and those dropped by a light stage`() throws {
        let shops = try Shops()
        let stages = [
            ShopStages.custom(did: { context in
                for item in try context.all(Shop2.Item.self) { item.cents = Int(item.price * 100) }
                try context.save()
            }),
            ShopStages.secondLight,
        ]
        try shops.migrate(to: Shop3.self, stages) { container, context in
            let report = container.migrationReport
            #expect(report.versions == ["1.0.0", "2.0.0", "3.0.0"])
            #expect(report.objectsCopied == Shops.count + 4 + 3)
            #expect(report.objectsWritten == Shops.count)
            #expect(report.objectsRead == Shops.count)
            #expect(report.blobBytesRead == 0)
            let items = try context.all(Shop3.Item.self)
            #expect(items.count == Shops.count)
            for item in items {
                let number = Shops.number(item.name)
                #expect(item.cents == number * 100 + 25)
                #expect(item.photo == (number % 6 == 0 ? Shops.photo(number) : nil))
            }
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == shops.blobCount)
        }
        #expect(try shops.stores.findings(Shop3.self) == [])
    }

    @Test func `carry over: deleted old objects are read after the change`() throws {
        let shops = try Shops()
        let kept = Box<[Shop1.Item]>([])
        try shops.migrate([
            ShopStages.custom(
                will: { context in
                    kept.value = try context.all(Shop1.Item.self).filter { $0.price < 12 }
                    for item in kept.value { context.delete(item) }
                    try context.save()
                },
                did: { context in
                    let tags = try context.all(Shop2.Tag.self)
                    let shelves = try context.all(Shop2.Shelf.self)
                    for old in kept.value {
                        let new = Shop2.Item(name: old.name, price: old.price)
                        let number = Shops.number(old.name)
                        new.photo = old.photo
                        context.insert(new)
                        new.shelf = shelves.first { $0.label == "s\(number % 4)" }
                        new.tags = tags.filter { ["w\(number % 3)", "w\((number + 1) % 3)"].contains($0.word) }
                    }
                    try context.save()
                })
        ]) { container, context in
            #expect(kept.value.count == 12)
            #expect(container.migrationReport.blobsLeftBehind == 2)
            try Shops.checkItems(context)
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == shops.blobCount)
        }
        #expect(try shops.stores.findings(Shop2.self) == [])
    }

    @Test func `carry over: new objects that were made before the change are inserted after it`() throws {
        let shops = try Shops()
        let made = Box<[Shop2.Maker]>([])
        try shops.migrate([
            ShopStages.custom(
                will: { context in
                    for poster in try context.all(Shop1.Poster.self) {
                        let maker = Shop2.Maker(text: poster.text)
                        if let blob = poster.blob(\.picture) { maker.setBlob(blob, for: \.picture) }
                        made.value.append(maker)
                    }
                },
                did: { context in
                    made.value.forEach { context.insert($0) }
                    try context.save()
                })
        ]) { container, context in
            let makers = try context.all(Shop2.Maker.self).sorted { $0.text < $1.text }
            #expect(makers.map(\.picture) == [Shops.photo(2_000), Shops.photo(2_001)])
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == shops.blobCount + 2)
        }
        #expect(try shops.stores.findings(Shop2.self) == [])
    }

    @Test func `clean before a constraint: a set of keys finds the later duplicates`() throws {
        let shops = try Shops(doubles: 3)
        try shops.migrate([
            ShopStages.custom(will: { context in
                var keys: Set<String> = []
                for item in try context.fetch(
                    FetchDescriptor<Shop1.Item>(sortBy: [SortDescriptor(\.price, order: .reverse)]))
                where !keys.insert(item.name).inserted {
                    context.delete(item)
                }
                try context.save()
            })
        ]) { _, context in try Shops.checkItems(context) }
        #expect(try shops.stores.findings(Shop2.self) == [])
    }

    @Test func `M23 (realm-swift#3262), clean before a constraint: a whole class is deleted`() throws {
        let shops = try Shops(doubles: 3)
        try shops.migrate([
            ShopStages.custom(will: { context in
                try context.delete(model: Shop1.Item.self)
                try context.save()
            })
        ]) { container, context in
            try #expect(context.fetchCount(FetchDescriptor<Shop2.Item>()) == 0)
            try #expect(context.all(Shop2.Shelf.self).allSatisfy(\.items.isEmpty))
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 0)
        }
        #expect(try shops.stores.findings(Shop2.self) == [])
    }

    @Test func `say so and resync: closures that only save and set a flag`() throws {
        let shops = try Shops()
        let flags = Box(0)
        try shops.migrate([
            ShopStages.custom(
                will: { context in try context.save() },
                did: { context in
                    try context.save()
                    flags.value += 1
                })
        ]) { container, context in
            #expect(flags.value == 1)
            #expect(container.migrationReport.objectsWritten == 0)
            try Shops.checkItems(context)
        }
    }
}
