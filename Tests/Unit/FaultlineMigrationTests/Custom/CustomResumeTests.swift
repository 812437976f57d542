import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import Foundation
import Testing

/// Custom stages that are stopped: the old state is kept.
struct CustomResumeTests {
    private struct Stopped: Error {}

    private static let replacePhotos: ShopStages.Closure = { context in
        for item in try context.all(Shop2.Item.self) where item.photo != nil {
            item.photo = Data(repeating: 3, count: 5_000)
        }
        try context.save()
        // A second change: the first new value belongs to the stage itself, and is removed at once.
        for item in try context.all(Shop2.Item.self) where item.photo != nil {
            item.photo = Data(repeating: 4, count: 5_000)
        }
        try context.save()
    }

    @Test func `values out of the row that a closure replaces stay until the switch`() throws {
        let shops = try Shops()
        _ = try shops.failure([
            ShopStages.custom(did: { context in
                try Self.replacePhotos(context)
                throw Stopped()
            })
        ])
        try shops.checkOld()
        try shops.migrate([ShopStages.custom(did: Self.replacePhotos)]) { container, context in
            #expect(container.migrationReport.blobsLeftBehind == shops.blobCount)
            let photos = try context.all(Shop2.Item.self).compactMap(\.photo)
            #expect(photos == Array(repeating: Data(repeating: 4, count: 5_000), count: shops.blobCount))
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == shops.blobCount)
        }
        #expect(try shops.stores.findings(Shop2.self) == [])
    }

    @Test func `M24 (GRDB#1453): an older container reads the old state, and writes only after a failure`() throws {
        let shops = try Shops()
        let old = try shops.stores.open(Shop1.self)
        let refusals = Box(0)
        let change: ShopStages.Closure = { context in
            try context.delete(model: Shop1.Item.self)
            try context.save()
            let reader = ModelContext(old)
            let items = try reader.all(Shop1.Item.self)
            #expect(items.count == Shops.count)
            #expect(
                items.allSatisfy {
                    $0.photo == (Shops.number($0.name) % 6 == 0 ? Shops.photo(Shops.number($0.name)) : nil)
                })
            items[0].price = 1_000
            let error = #expect(throws: StorageError.self) { try reader.save() }
            #expect(error?.code == .outdated)
            refusals.value += 1
        }
        let held = ModelContext(old)
        let item = try #require(try held.all(Shop1.Item.self).first)
        _ = try shops.failure([ShopStages.custom(will: change, did: { _ in throw Stopped() })])
        item.price = 77
        try held.save()
        try shops.migrate([ShopStages.custom(will: change)]) { _, context in
            try #expect(context.fetchCount(FetchDescriptor<Shop2.Item>()) == 0)
        }
        #expect(refusals.value == 2)
        #expect(item.price == 77)
        item.price = 78
        #expect(throws: StorageError.self) { try held.save() }
        try old.close()
    }

    /// A first stage that completes, and a second that stops after it has saved.
    private func stages(_ runs: Box<[String]>, stops: Box<Bool>) -> [MigrationStage] {
        [
            ShopStages.custom(
                will: { context in
                    runs.value.append("w1")
                    try context.delete(model: Shop1.Poster.self)
                    try context.save()
                },
                did: { context in
                    runs.value.append("d1")
                    for item in try context.all(Shop2.Item.self) {
                        item.cents = Int(item.price * 100)
                        // Written by the first stage, replaced by the second.
                        if Shops.number(item.name) % 6 == 1 { item.photo = Data(repeating: 6, count: 7_000) }
                    }
                    try context.save()
                }),
            ShopStages.second(
                will: { context in
                    runs.value.append("w2")
                    for item in try context.all(Shop2.Item.self) where Shops.number(item.name) % 2 == 1 {
                        #expect(item.cents == Shops.number(item.name) * 100 + 25)
                        #expect((item.photo != nil) == (Shops.number(item.name) % 6 == 1))
                        context.delete(item)
                    }
                    try context.save()
                },
                did: { context in
                    runs.value.append("d2")
                    for item in try context.all(Shop3.Item.self) where item.photo != nil {
                        item.photo = Data(repeating: 5, count: 5_000)
                    }
                    context.insert(Shop3.Maker(text: "m"))
                    try context.save()
                    if stops.value { throw Stopped() }
                }),
        ]
    }

    private func checkBoth(_ shops: Shops, _ container: ModelContainer, _ context: ModelContext) throws {
        let items = try context.all(Shop3.Item.self)
        #expect(items.map { Shops.number($0.name) }.sorted() == (0..<Shops.count).filter { $0 % 2 == 0 })
        for item in items {
            let number = Shops.number(item.name)
            #expect(item.cents == number * 100 + 25)
            #expect(item.photo == (number % 6 == 0 ? Data(repeating: 5, count: 5_000) : nil))
            #expect(item.shelf?.label == "s\(number % 4)")
            #expect(Set(item.tags.map(\.word)) == ["w\(number % 3)", "w\((number + 1) % 3)"])
        }
        for tag in try context.all(Shop3.Tag.self) {
            #expect(Set(tag.items.map(\.name)) == Set(items.filter { $0.tags.contains(tag) }.map(\.name)))
        }
        try #expect(context.fetchCount(FetchDescriptor<Shop3.Maker>()) == 1)
        #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == shops.blobCount)
    }

    @Test func `a stage that stopped begins again, and those before it stay done`() throws {
        let shops = try Shops()
        let runs = Box<[String]>([])
        let stops = Box(true)
        let stages = stages(runs, stops: stops)
        _ = try shops.failure(to: Shop3.self, stages)
        _ = try shops.failure(to: Shop3.self, stages)
        stops.value = false
        try shops.migrate(to: Shop3.self, stages) { container, context in
            #expect(runs.value == ["w1", "d1", "w2", "d2", "w2", "d2", "w2", "d2"])
            #expect(container.migrationReport.resumes == 2)
            #expect(container.migrationReport.objectsWritten == Shops.count + shops.blobCount + 1)
            #expect(container.migrationReport.objectsDeleted == 2 + Shops.count / 2)
            try checkBoth(shops, container, context)
        }
        #expect(try shops.stores.findings(Shop3.self) == [])
    }

    @Test func `the next run gets objects that a stopped run had dropped, and keeps them`() throws {
        let shops = try Shops()
        let stops = Box(true)
        let stages = [
            ShopStages.custom(will: { context in
                // Leaves values behind, too; those of the first stage stay left behind.
                try context.delete(model: Shop1.Poster.self)
                try context.save()
            }),
            ShopStages.second(did: { context in
                guard stops.value else { return }
                for item in try context.all(Shop3.Item.self) {
                    item.photo = nil
                    if item.cents == 0 { try context.save() }
                }
                throw Stopped()
            }),
        ]
        _ = try shops.failure(to: Shop3.self, stages)
        stops.value = false
        try shops.migrate(to: Shop3.self, stages) { container, context in
            for item in try context.all(Shop3.Item.self) {
                let number = Shops.number(item.name)
                #expect(item.photo == (number % 6 == 0 ? Shops.photo(number) : nil))
            }
            #expect(container.migrationReport.resumes == 1)
            #expect(container.migrationReport.blobsLeftBehind == 2)
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == shops.blobCount)
        }
        #expect(try shops.stores.findings(Shop3.self) == [])
    }

    @Test func `a stage that stopped is given up under the old schema and by another plan`() throws {
        let shops = try Shops()
        let stops = Box(true)
        _ = try shops.failure(to: Shop3.self, stages(Box([]), stops: stops))
        try shops.checkOld()
        _ = try shops.failure(to: Shop3.self, stages(Box([]), stops: stops))
        // The same versions with other kinds of stages.
        try shops.migrate(to: Shop3.self, [ShopStages.light, ShopStages.secondLight]) { container, context in
            #expect(container.migrationReport.resumes == 0)
            let items = try context.all(Shop3.Item.self)
            #expect(items.count == Shops.count)
            #expect(items.allSatisfy { $0.cents == 0 && ($0.photo != nil) == (Shops.number($0.name) % 6 == 0) })
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == shops.blobCount)
        }
        #expect(try shops.stores.findings(Shop3.self) == [])
    }

    @Test(arguments: [false, true])
    func `custom stages stand between streamed and lightweight ones`(isStopped: Bool) throws {
        let shops = try Shops()
        let stops = Box(isStopped)
        let streamed = Box(0)
        let stages: [MigrationStage] = [
            .streamed(
                fromVersion: Shop1.self, toVersion: Shop2.self,
                StreamedEntity(Shop1.Poster.self) { old, output in
                    streamed.value += 1
                    let maker = Shop2.Maker(text: old.text)
                    if let blob = old.blob(\.picture) { maker.setBlob(blob, for: \.picture) }
                    try output.insert(maker)
                }),
            ShopStages.second(
                will: { context in
                    for maker in try context.all(Shop2.Maker.self) where maker.text == "p1" { context.delete(maker) }
                    for item in try context.all(Shop2.Item.self) { item.cents = Int(item.price * 100) }
                    try context.save()
                },
                did: { context in
                    let maker = try #require(try context.all(Shop3.Maker.self).first)
                    #expect(maker.picture == Shops.photo(2_000))
                    maker.picture = Data(repeating: 8, count: 4_500)
                    try context.save()
                    if stops.value { throw Stopped() }
                }),
            .lightweight(fromVersion: Shop3.self, toVersion: Shop4.self),
        ]
        if isStopped {
            _ = try shops.failure(to: Shop4.self, stages)
            stops.value = false
        }
        try shops.migrate(to: Shop4.self, stages) { container, context in
            #expect(streamed.value == 2)
            #expect(container.migrationReport.versions == ["1.0.0", "2.0.0", "3.0.0", "4.0.0"])
            #expect(container.migrationReport.blobsMoved == 2)
            try #expect(context.all(Shop4.Maker.self).map(\.picture) == [Data(repeating: 8, count: 4_500)])
            let items = try context.all(Shop4.Item.self)
            #expect(items.count == Shops.count)
            #expect(items.allSatisfy { $0.cents == Shops.number($0.name) * 100 + 25 && $0.tags.count == 2 })
            // Photos stay until their rows are written again.
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == shops.blobCount + 1)
            for item in items { item.cents += 1 }
            try context.save()
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 1)
        }
        #expect(try shops.stores.findings(Shop4.self) == [])
    }

    @Test func `B6: the tables of a finished stage are dropped when the stage behind the next one begins`() throws {
        let shops = try Shops()
        let ofFirst = Box<[UInt16]>([])
        let left = Box<[Int]>([])
        @Sendable func counts(_ context: ModelContext) -> [Int] {
            let snapshot = context.container.rowStore.log.snapshot()
            return ofFirst.value.map { snapshot.recordCount(of: TableID(rawValue: $0)) }
        }
        let stages = [
            ShopStages.custom(did: { ofFirst.value = $0.container.rowStore.storage.map.tables }),
            ShopStages.second(did: { #expect(counts($0).reduce(0, +) > Shops.count) }),
            MigrationStage.custom(
                fromVersion: Shop3.self, toVersion: Shop4.self, willMigrate: nil,
                didMigrate: { left.value = counts($0) }),
        ]
        try shops.migrate(to: Shop4.self, stages) { container, context in
            #expect(!left.value.isEmpty && left.value.allSatisfy { $0 == 0 })
            let items = try context.all(Shop4.Item.self)
            #expect(items.count == Shops.count)
            #expect(items.allSatisfy { $0.tags.count == 2 })
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == shops.blobCount)
        }
        #expect(try shops.stores.findings(Shop4.self) == [])
    }

    @Test func `copying reports its progress`() throws {
        let shops = try Shops()
        let seen = Box<[String: [Int]]>([:])
        var options = MigrationOptions()
        options.batchByteCount = 1
        options.progress = {
            guard $0.pass == .copying, !$0.entity.isEmpty else { return }
            seen.value[$0.entity, default: []].append($0.done)
            #expect($0.done <= $0.total)
        }
        try shops.migrate([ShopStages.custom(will: { _ in })], options) { _, _ in }
        #expect(seen.value.mapValues { $0.last } == ["Item": 60, "Shelf": 4, "Tag": 3, "Poster": 2])
    }
}
