import Faultline
import Logging
import Testing

/// The code of Operations at night.
@Suite struct OperationsGuide {
    private typealias Item = Shop.Item
    private let place = GuidePlace()

    // swift-format-ignore
    private func URL(filePath path: String) -> Foundation.URL { place.url(path) }

    @Test func `Operations: a store that reports`() throws {
        // snippet
        var configuration = ModelConfiguration(url: URL(filePath: "/var/lib/shop.store"))
        configuration.options.reporting.logger = Logger(label: "shop.store")
        configuration.options.reporting.metrics = StoreReporting.Metrics()  // MetricsSystem.factory
        let container = try ModelContainer(for: Item.self, configurations: configuration)
        // end
        // snippet
        let health = container.health  // takes no lock for long, makes no system call
        let body = try JSONEncoder().encode(health)
        let status = health.isReady ? 200 : 503
        for reason in health.reasons { print(reason.code, reason.message, reason.path ?? "") }
        // end
        #expect(status == 200 && !body.isEmpty)
        // snippet
        for pin in container.pins { print(pin.label, pin.since, pin.heldByteCount) }
        let summary = try container.compact()  // the store does this by itself, at its own pace
        print(summary.reclaimedByteCount)
        // end
        #expect(summary.damage.isEmpty)
    }

    @Test func `Operations: errors of a save`() throws {
        let container = try ModelContainer(
            for: Item.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        context.insert(Item(code: "a", price: 1))
        // snippet
        do {
            try context.save()
        } catch let error as StorageError {
            switch error.code {
            case .fullDisk: print("try again when there is space; nothing was written")
            case .outcomeUnknown: print("open the store again, then ask transactionLanded")
            default: print(error)
            }
        } catch let error as SwiftDataError {
            for finding in error.findings { print(finding) }  // each object, property and rule
        }
        // end
        #expect(!context.hasChanges)
    }
}
