import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import Testing

/// Links that a streamed stage has not saved yet.
struct StreamedLinkTests {
    private static let itemCount = 200

    /// Migrates items that have a number of tags each.
    ///
    /// - Returns: The transactions that the migration has written.
    private func transactions(tags tagCount: Int) throws -> UInt64 {
        let stores = Stores()
        let before = try stores.use(Shop1.self) { container, context in
            let tags = (0..<tagCount).map { Shop1.Tag(word: "w\($0)") }
            tags.forEach { context.insert($0) }
            for number in 0..<Self.itemCount {
                let item = Shop1.Item(name: "i\(number)", price: 1)
                context.insert(item)
                item.tags = tags
            }
            try context.save()
            return container.rowStore.log.snapshot().sequence
        }
        let stage = MigrationStage.streamed(
            fromVersion: Shop1.self, toVersion: Shop2.self,
            StreamedEntity(Shop1.Tag.self) { old, output in try output.insert(Shop2.Tag(word: old.word)) },
            StreamedEntity(Shop1.Item.self) { old, output in
                let new = Shop2.Item(name: old.name, price: old.price)
                new.tags = try old.tags.compactMap { try output.object(migratedFrom: $0, as: Shop2.Tag.self) }
                try output.insert(new)
            })
        return try ShopStages.$current.withValue(ShopStages([stage])) {
            var options = Stores.dropping
            options.workerCount = 1
            return try stores.use(Shop2.self, ShopPlan.self, migration: options) { container, context in
                for item in try context.all(Shop2.Item.self) { #expect(item.tags.count == tagCount) }
                return container.rowStore.log.snapshot().sequence - before
            }
        }
    }

    @Test func `B4: a batch of a streamed stage ends at a number of links`() throws {
        // 16,000 links and 17,000: a batch has at most 16,384.
        let few = try transactions(tags: 80)
        let many = try transactions(tags: 85)
        #expect(many == few + 1, "\(few), then \(many)")
    }

    @Test func `B4: a link to an object that is not there yet is made once`() throws {
        let count = 100
        let stores = Stores()
        try stores.use(Shop1.self) { _, context in
            let tag = Shop1.Tag(word: "w")
            context.insert(tag)
            tag.items = (0..<count).map { Shop1.Item(name: "i\($0)", price: 1) }
            try context.save()
        }
        // Each side sets the links, and each object is a batch.
        let stage = MigrationStage.streamed(
            fromVersion: Shop1.self, toVersion: Shop2.self,
            StreamedEntity(Shop1.Tag.self) { old, output in
                let new = Shop2.Tag(word: old.word)
                try output.insert(new)
                new.items = try old.items.compactMap { try output.object(migratedFrom: $0, as: Shop2.Item.self) }
            },
            StreamedEntity(Shop1.Item.self) { old, output in
                let new = Shop2.Item(name: old.name, price: old.price)
                new.tags = try old.tags.compactMap { try output.object(migratedFrom: $0, as: Shop2.Tag.self) }
                try output.insert(new)
            })
        try ShopStages.$current.withValue(ShopStages([stage])) {
            var options = Stores.dropping
            options.workerCount = 1
            options.batchByteCount = 1
            try stores.use(Shop2.self, ShopPlan.self, migration: options) { _, context in
                let tags = try context.all(Shop2.Tag.self)
                #expect(tags.map(\.items.count) == [count])
                for item in try context.all(Shop2.Item.self) { #expect(item.tags.count == 1) }
            }
        }
        #expect(try stores.findings(Shop2.self) == [])
    }
}
