#if Service
import Dispatch
import FaultlineDisk
import FaultlineService
import Synchronization

enum Shop1: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Item.self] }

    @Model final class Item {
        var number: Int
        var title: String
        init(number: Int, title: String) {
            self.number = number
            self.title = title
        }
    }
}

enum Shop2: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [Item.self] }

    @Model final class Item {
        var number: Int
        var label: String
        init(number: Int, label: String) {
            self.number = number
            self.label = label
        }
    }
}

enum ShopPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Shop1.self, Shop2.self] }
    static var stages: [MigrationStage] {
        [
            .streamed(
                fromVersion: Shop1.self, toVersion: Shop2.self,
                StreamedEntity(Shop1.Item.self) { old, output in
                    StageGate.current?.pass(old.number)
                    try output.insert(Shop2.Item(number: old.number, label: old.title.uppercased()))
                })
        ]
    }
}

/// Notes the objects that a migration goes through, and stops at one of them.
final class StageGate: Sendable {
    @TaskLocal static var current: StageGate?

    enum Stop {
        /// Until `open()` is called.
        case wait
        case cancelTask
        /// Until the migration is cancelled.
        case waitForCancellation(MigrationControl)
    }

    private let stop: Stop?
    private let number: Int
    private let numbers = Guarded<[Int]>([])
    private let isOpen = DispatchSemaphore(value: 0)
    private let arrivals: AsyncStream<Void>
    private let arrive: AsyncStream<Void>.Continuation

    init(at number: Int = 100, _ stop: Stop? = nil) {
        self.number = number
        self.stop = stop
        (arrivals, arrive) = AsyncStream.makeStream()
    }

    var seen: [Int] { numbers.withLock { $0 } }

    func pass(_ number: Int) {
        numbers.withLock { $0.append(number) }
        guard number == self.number else { return }
        arrive.yield()
        switch stop {
        case .wait: isOpen.wait()
        case .cancelTask: withUnsafeCurrentTask { $0?.cancel() }
        case .waitForCancellation(let control): while control.status != .cancelled { usleep(1_000) }
        case nil: break
        }
    }

    func open() { isOpen.signal() }

    /// Waits for the object at which the migration stops.
    func arrival() async { for await _ in arrivals { return } }
}
#endif
