#if Service
import FaultlineService
import FaultlineTestSupport
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

/// A store in a folder of its own, and services that open it.
struct ServiceStore {
    static let count = 200
    private let folder = TemporaryDirectory()

    var url: URL { URL(filePath: folder.path).appending(path: "shop.store", directoryHint: .isDirectory) }

    var configuration: ModelConfiguration {
        var configuration = ModelConfiguration(url: url)
        configuration.options.migration.workerCount = 1
        return configuration
    }

    /// Makes a store of the first version.
    func makeOld() throws {
        let container = try ModelContainer(for: Schema(versionedSchema: Shop1.self), configurations: configuration)
        let context = ModelContext(container)
        for number in 0..<Self.count { context.insert(Shop1.Item(number: number, title: "item \(number)")) }
        try context.save()
        try container.close()
    }

    /// A service of the second version.
    func service(_ change: (inout StoreOptions) -> Void = { _ in }) -> StoreService {
        var configuration = configuration
        change(&configuration.options)
        return StoreService(
            for: Schema(versionedSchema: Shop2.self), migrationPlan: ShopPlan.self, configuration: configuration)
    }

    /// The labels of the closed store.
    func labels() throws -> [String] {
        let container = try ModelContainer(
            for: Schema(versionedSchema: Shop2.self), migrationPlan: ShopPlan.self, configurations: configuration)
        defer { try? container.close() }
        return try ModelContext(container).fetch(FetchDescriptor<Shop2.Item>(sortBy: [SortDescriptor(\.number)]))
            .map(\.label)
    }

    static var labels: [String] { (0..<count).map { "ITEM \($0)" } }
}

extension StoreService {
    /// Runs the service beside some code, then shuts it down gracefully.
    func serve(_ body: @Sendable (GracefulShutdownTestTrigger) async throws -> Void) async throws {
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.run() }
                do {
                    try await body(trigger)
                } catch {
                    group.cancelAll()
                    throw error
                }
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
    }

    /// Waits until the health has a status.
    func reaches(_ status: Health.Status) async throws {
        while health.status != status { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// Adds an item, and returns the number of all.
    func add(_ number: Int) async throws -> Int {
        try await perform("add item") { context in
            context.insert(Shop2.Item(number: number, label: "NEW"))
            try await context.save()
            return try context.fetchCount(FetchDescriptor<Shop2.Item>())
        }
    }
}

/// The code of the storage error that some code throws; nil if it throws none.
func storageCode(_ body: () async throws -> Void) async -> StorageError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? StorageError)?.code
    }
}
#endif
