import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineStore
import FaultlineTestSupport
import Synchronization

/// A store whose clock the test sets, with tiny segments: contexts release their snapshots when time has passed.
final class ClockedStore {
    let disk = SimulatedDisk(directories: ["/d"])
    let container: ModelContainer
    private let clock = Seconds()

    private final class Seconds: Sendable {
        let now = Atomic<Int64>(1_000)
    }

    init() throws {
        var options = LogOptions()
        options.maintenance = .manual
        options.segmentByteCount = 8_000
        options.seed = 1
        let clock = clock
        container = try ModelContainer(
            for: [Optionals.self, Folder.self], directory: "/d/store", on: disk,
            clock: Clock(
                wallNanoseconds: { clock.now.load(ordering: .relaxed) * 1_000_000_000 },
                monotonicNanoseconds: { UInt64(clock.now.load(ordering: .relaxed)) * 1_000_000_000 }),
            options: options)
    }

    func context() -> ModelContext { ModelContext(container) }

    /// Changes all objects, and releases space.
    func replaceAll(_ version: Int) throws {
        let context = context()
        for object in try context.all(Optionals.self) {
            object.string = "version \(version)"
            object.data = Self.body(version)
        }
        try context.save()
        try container.rowStore.log.compact()
    }

    /// Advances the clock, and runs the store's maintenance.
    func wait(seconds: Int64) throws {
        clock.now.add(seconds, ordering: .relaxed)
        try container.rowStore.log.checkpoint()
        try container.rowStore.log.checkpoint()
    }

    static func body(_ version: Int) -> Data {
        // Bytes that cannot be compressed.
        var seed = Seed(UInt64(version))
        return Data(seed.bytes(6_000))
    }

    var fileCount: Int { disk.filePaths.count }

    /// Makes a store with a hundred objects of version 0.
    static func filled() throws -> ClockedStore {
        let ground = try ClockedStore()
        let context = ground.context()
        for number in 0..<100 {
            let object = Optionals()
            object.string = "version 0"
            object.int = number
            object.data = body(0)
            context.insert(object)
        }
        try context.save()
        return ground
    }
}
