import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineObjects
import FaultlineStore
import FaultlineTestSupport
import Testing

/// Links that a streamed stage has not saved yet.
struct StreamedLinkTests {
    private static let itemCount = 200

    /// A stage that makes each tag and each item again, with its tags.
    private static var keepingTags: ShopStages {
        ShopStages([
            .streamed(
                fromVersion: Shop1.self, toVersion: Shop2.self,
                StreamedEntity(Shop1.Tag.self) { old, output in try output.insert(Shop2.Tag(word: old.word)) },
                StreamedEntity(Shop1.Item.self) { old, output in
                    let new = Shop2.Item(name: old.name, price: old.price)
                    new.tags = try old.tags.compactMap { try output.object(migratedFrom: $0, as: Shop2.Tag.self) }
                    try output.insert(new)
                })
        ])
    }

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
        return try ShopStages.$current.withValue(Self.keepingTags) {
            var options = Stores.dropping
            options.workerCount = 1
            // A batch does not end for its bytes.
            options.batchByteCount = 1 << 30
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

    @Test("B4: a link that is not saved takes at most the bytes that are counted", .enabled(if: PeakMemory.isExact))
    func bytesOfLinks() async {
        await #expect(processExitsWith: .success) {
            for (itemCount, tagCount) in [(4_000, 1), (100, 100)] {
                try Stores().use(Shop1.self) { _, context in
                    let tags = (0..<tagCount).map { Shop1.Tag(word: "w\($0)") }
                    let items = (0..<itemCount).map { Shop1.Item(name: "i\($0)", price: 1) }
                    tags.forEach { context.insert($0) }
                    items.forEach { context.insert($0) }
                    try context.save()
                    let target = StageContext(context.core)
                    let before = (PeakMemory.allocatedByteCount, target.unsavedByteCount)
                    for item in items { item.tags = tags }
                    let byteCount = PeakMemory.allocatedByteCount - before.0
                    let countedByteCount = target.unsavedByteCount - before.1
                    print("\(byteCount / itemCount / tagCount) bytes a link of \(tagCount)")
                    #expect(target.unsavedLinkCount == itemCount * tagCount)
                    #expect(byteCount <= countedByteCount, "\(byteCount) for \(countedByteCount)")
                }
            }
        }
    }

    @Test("B4: a streamed stage with many links keeps to its ceiling and 16 MiB", .enabled(if: PeakMemory.isExact))
    func staysWithinItsCeiling() async {
        await #expect(processExitsWith: .success) {
            let stores = Stores(isOnDisk: true)
            let (itemCount, tagCount) = (1_000, 100)
            try stores.use(Shop1.self) { _, context in
                let tags = (0..<tagCount).map { Shop1.Tag(word: "w\($0)") }
                tags.forEach { context.insert($0) }
                for number in 0..<itemCount {
                    let item = Shop1.Item(name: "i\(number)", price: 1)
                    context.insert(item)
                    item.tags = tags
                    if number % 100 == 99 { try context.save() }
                }
            }
            #expect(PeakMemory.reset())
            let before = try #require(PeakMemory.residentByteCount)
            try ShopStages.$current.withValue(StreamedLinkTests.keepingTags) {
                let options = MigrationOptions(memoryCeiling: 16 << 20, unhandledData: .drop)
                try stores.use(Shop2.self, ShopPlan.self, migration: options) { _, _ in }
            }
            let growth = try #require(PeakMemory.peakByteCount) - before
            print("\(growth >> 10) KiB above the base line")
            #expect(growth <= 32 << 20, "\(growth) bytes above the base line")
        }
    }
}
