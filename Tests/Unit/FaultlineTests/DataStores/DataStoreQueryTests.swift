import Faultline
import FaultlineObjects
import Foundation
import Testing

/// Each kind of query loads the objects of a data store, and loading changes nothing by itself.
@Suite(.timeLimit(.minutes(2))) struct DataStoreQueryTests {
    private let server: Server

    init() throws {
        server = Server("server \(UUID().uuidString)")
        let context = ModelContext(try container())
        for (code, title) in [("a", "north"), ("b", "south"), ("c", "north star")] {
            context.insert(Voyage(code, title: title, cost: 2))
        }
        context.insert(Cabin("bow", Voyage("d", title: "east", cost: 2)))
        try context.save()
    }

    private func container() throws -> ModelContainer {
        try ModelContainer(for: Voyage.self, Cabin.self, configurations: ServerConfiguration(server))
    }

    private var descriptor: FetchDescriptor<Voyage> {
        FetchDescriptor(predicate: #Predicate { $0.code > "a" }, sortBy: [SortDescriptor(\.code)])
    }

    /// A context of a container that has loaded nothing.
    private func fresh() throws -> ModelContext { ModelContext(try container()) }

    @Test func `walks, batches, pages and streams load the objects`() async throws {
        var codes: [String] = []
        try fresh().enumerate(descriptor, batchSize: 2) { codes.append($0.code) }
        #expect(codes == ["b", "c", "d"])
        #expect(try fresh().fetch(descriptor, batchSize: 2).map(\.code) == ["b", "c", "d"])
        #expect(try fresh().fetchIdentifiers(descriptor, batchSize: 2).count == 3)
        #expect(try fresh().fetchPage(descriptor, size: 2).objects.map(\.code) == ["b", "c"])
        let container = try container()
        codes = []
        for try await copies in container.stream(descriptor, batchSize: 2) {
            codes += copies.compactMap { $0["code"]?.string }
        }
        #expect(codes == ["b", "c", "d"])
    }

    @Test func `sums, searches and explanations load the objects`() throws {
        #expect(try fresh().fetchAggregates(descriptor, .count) == 3)
        #expect(try fresh().fetchAggregates(descriptor, .sum(\.cost)) == 6)
        #expect(try fresh().search(Voyage.self, "north").map(\.object.code).sorted() == ["a", "c"])
        let context = try fresh()
        _ = try context.explain(descriptor)
        #expect(!server.takeCalls().isEmpty)
    }

    @Test func `an object without its required target is loaded, and an unchanged one is not written`() throws {
        let context = try fresh()
        let cabins = try context.fetch(FetchDescriptor<Cabin>())
        let voyage = cabins[0].voyage.persistentModelID
        let other = try fresh()
        _ = try other.fetch(FetchDescriptor<Cabin>())
        _ = try other.fetch(FetchDescriptor<Voyage>())
        let history = HistoryDescriptor<DefaultHistoryTransaction>()
        let count = try other.fetchHistory(history).count
        _ = try other.fetch(FetchDescriptor<Cabin>())
        _ = try other.fetch(FetchDescriptor<Voyage>())
        #expect(try other.fetchHistory(history).count == count)

        server.remove(voyage)
        #expect(try fresh().fetch(FetchDescriptor<Cabin>()).map(\.name) == ["bow"])
    }
}
