import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import Testing

/// The engine's memory while the closures of a custom stage go through many rows.
struct CustomMemoryTests {
    /// The rows amount to three times the ceiling.
    @Test func `M2 (CoreStore#428): the engine's memory stays under its share for any number of rows`() throws {
        let rows = 16_000
        let stores = Stores(isOnDisk: true)
        let padding = String(repeating: "x", count: 3_400)
        try stores.use(Shop1.self) { _, context in
            for number in 0..<rows {
                context.insert(Shop1.Item(name: "\(number)\(padding)", price: Double(number)))
                if number % 2_000 == 1_999 { try context.save() }
            }
            try context.save()
        }
        let options = MigrationOptions(memoryCeiling: 16 << 20)
        let peak = Box(0)
        let touched = Box(0)
        let stage = ShopStages.custom(
            will: { context in
                try context.enumerate(FetchDescriptor<Shop1.Item>()) { item in
                    touched.value += item.name.utf8.count
                    peak.value = max(peak.value, context.counters.cacheBytes)
                }
            },
            did: { context in
                var done = 0
                try context.enumerate(FetchDescriptor<Shop2.Item>(), batchSize: 500) { item in
                    item.cents = Int(item.price)
                    done += 1
                    if done % 500 == 0 { try context.save() }
                    peak.value = max(peak.value, context.counters.cacheBytes)
                }
                try context.save()
            })
        try ShopStages.$current.withValue(ShopStages([stage])) {
            try stores.use(Shop2.self, ShopPlan.self, migration: options) { container, context in
                #expect(container.migrationReport.objectsCopied == rows)
                #expect(container.migrationReport.objectsWritten == rows)
                var sum = 0
                try context.enumerate(FetchDescriptor<Shop2.Item>()) { sum += $0.cents }
                #expect(sum == rows * (rows - 1) / 2)
            }
        }
        #expect(touched.value > 3 * options.memoryCeiling)
        #expect(peak.value > 1 << 20 && peak.value <= options.engineByteCount)
        print("the engine held at most \(peak.value >> 10) KiB of its \(options.engineByteCount >> 10) KiB")
    }
}
