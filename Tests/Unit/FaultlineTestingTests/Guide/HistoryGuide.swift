import Faultline
import Synchronization
import Testing

enum Shop {
    @Model final class Item {
        @Attribute(.unique, .preserveValueOnDeletion) var code: String
        var price: Int
        init(code: String, price: Int) {
            self.code = code
            self.price = price
        }
    }

    // snippet
    struct SearchIndex {
        var token: DefaultHistoryToken?
        var codes: Set<String> = []

        mutating func follow(_ context: ModelContext) throws {
            var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
            if let token { descriptor.predicate = #Predicate { $0.token > token } }
            for transaction in try context.fetchHistory(descriptor) {
                for change in transaction.changes {
                    switch change {
                    case .insert(let change as DefaultHistoryInsert<Item>):
                        try add(change.changedPersistentIdentifier, context)
                    case .update(let change as DefaultHistoryUpdate<Item>):
                        try add(change.changedPersistentIdentifier, context)
                    case .delete(let change as DefaultHistoryDelete<Item>):
                        if let code = change.tombstone[\.code] as? String { codes.remove(code) }
                    default: break
                    }
                }
                token = transaction.token
            }
        }

        private mutating func add(_ id: PersistentIdentifier, _ context: ModelContext) throws {
            // An object that was deleted since is met again as a deletion.
            if let item = try context.existing(id, as: Item.self) { codes.insert(item.code) }
        }
    }
    // end
}

/// The code of History and live changes.
@Suite struct HistoryGuide {
    private typealias Item = Shop.Item
    private let place = GuidePlace()

    // swift-format-ignore
    private func URL(filePath path: String) -> Foundation.URL { place.url(path) }

    @Test func `History: a follower`() throws {
        var configuration = ModelConfiguration(url: URL(filePath: "/var/lib/shop.store"))
        // snippet
        configuration.options.history = .kept(for: .seconds(7 * 86_400))
        let container = try ModelContainer(for: Item.self, configurations: configuration)
        let context = ModelContext(container)
        context.author = "import"
        // end
        context.insert(Item(code: "a", price: 1))
        context.insert(Item(code: "b", price: 1))
        try context.save()
        var index = Shop.SearchIndex()
        // snippet
        try index.follow(ModelContext(container))  // the first time from the beginning
        let kept = try JSONEncoder().encode(index.token)  // survives a restart of the follower
        index.token = try JSONDecoder().decode(DefaultHistoryToken?.self, from: kept)
        // end
        #expect(index.codes == ["a", "b"])
        try context.delete(model: Item.self, where: #Predicate { $0.code == "a" })
        try context.save()
        try index.follow(ModelContext(container))
        #expect(index.codes == ["b"])
        // snippet
        do {
            try index.follow(ModelContext(container))
        } catch SwiftDataError.historyTokenExpired {
            index = Shop.SearchIndex()  // read the stored objects, then follow from the newest token
        }
        // end
        // snippet
        let usage = try container.historyUsage()
        print(usage.byteCount, usage.recordCount, usage.oldest ?? .now)
        // end
        #expect(usage.recordCount == 2)
    }

    @Test(.timeLimit(.minutes(5))) @MainActor func `History: a live result`() async throws {
        let container = try ModelContainer(
            for: Item.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        context.insert(Item(code: "a", price: 1))
        context.insert(Item(code: "b", price: 200))
        try context.save()
        struct Enough: Error {}
        var kept: DefaultHistoryToken?
        func keep(_ prices: [PersistentIdentifier: Int], _ token: DefaultHistoryToken) async throws {
            #expect(Array(prices.values) == [1])
            kept = token
            throw Enough()
        }
        do {
            // snippet
            var prices: [PersistentIdentifier: Int] = [:]
            let offers = container.changes(
                of: Item.self, matching: #Predicate { $0.price < 100 }, including: [])
            for try await batch in offers {
                for copy in batch.values { prices[copy.id] = copy[\Item.price]?.int }  // inserted, updated
                for identifier in batch.deleted { prices[identifier] = nil }
                guard let token = batch.token else { continue }  // more batches of this state follow
                try await keep(prices, token)
            }
            // end
        } catch is Enough {}
        let token = try #require(kept)
        context.insert(Item(code: "c", price: 3))
        try context.save()
        // snippet
        let more = container.changes(
            of: Item.self, matching: #Predicate { $0.price < 100 }, after: token)
        // end
        for try await batch in more {
            #expect(batch.inserted.count == 1)
            break
        }
        let redraws = Mutex(0)
        // snippet
        let cheapest = try ResultsObserver(
            fetchDescriptor: FetchDescriptor<Item>(sortBy: [SortDescriptor(\.price)]),
            modelContext: context)
        withObservationTracking {
            _ = cheapest.results.first
        } onChange: {
            redraws.withLock { $0 += 1 }
        }
        // end
        context.insert(Item(code: "d", price: 0))
        while redraws.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(cheapest.results.first?.code == "d")
    }

    @Test func `History: notifications and observers`() throws {
        let container = try ModelContainer(
            for: Item.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let saves = Mutex(0)
        // snippet
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave, object: context, queue: nil
        ) { note in
            let key = ModelContext.NotificationKey.insertedIdentifiers.rawValue
            let inserted = note.userInfo?[key] as? Set<PersistentIdentifier> ?? []
            saves.withLock { $0 += inserted.count }
        }
        // end
        defer { NotificationCenter.default.removeObserver(observer) }
        let item = Item(code: "a", price: 1)
        context.insert(item)
        try context.save()
        #expect(saves.withLock { $0 } == 1)
        let changes = Mutex(0)
        // snippet
        withObservationTracking {
            _ = item.price
        } onChange: {
            changes.withLock { $0 += 1 }  // once, before the change; track again for the next one
        }
        item.price = 2
        // end
        #expect(changes.withLock { $0 } == 1)
    }

    @Test func `History: a reader beside the writer`() throws {
        let writer = try ModelContainer(
            for: Item.self, configurations: ModelConfiguration(url: URL(filePath: "/var/lib/shop.store")))
        let context = ModelContext(writer)
        context.insert(Item(code: "a", price: 1))
        try context.save()
        try writer.close()
        // snippet
        let configuration = ModelConfiguration(
            url: URL(filePath: "/var/lib/shop.store"), allowsSave: false)
        let reader = try ModelContainer(for: Item.self, configurations: configuration)
        let items = try ModelContext(reader).fetch(FetchDescriptor<Item>())
        // end
        #expect(items.map(\.code) == ["a"])
    }
}
