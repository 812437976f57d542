import Faultline
import FaultlineDisk
import FaultlineMigration
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

struct MigrationProgressTests {
    /// Options that record all progress.
    private func options(_ batch: Int = 1 << 20) -> (MigrationOptions, Box<[MigrationProgress]>) {
        let seen = Box<[MigrationProgress]>([])
        var options = MigrationOptions()
        options.batchByteCount = batch
        options.progress = { seen.value.append($0) }
        return (options, seen)
    }

    /// The names of the work reported, in order.
    private func course(_ seen: [MigrationProgress]) -> [String] {
        var course: [String] = []
        for progress in seen {
            let name = [progress.pass.rawValue, progress.mapping ?? progress.entity].filter { !$0.isEmpty }
                .joined(separator: " ")
            if course.last != name { course.append(name) }
        }
        return course
    }

    @Test func `M12 (bipsync.com; StackOverflow 2535373): every kind of stage tells of its passes`() throws {
        let stores = [Stores(), Stores()]
        for store in stores { try WorkStore.make(in: store) }
        let (options, seen) = options()
        try stores[0].use(Work2.self, WorkPlan.self, migration: options) { _, _ in }
        #expect(course(seen.value) == ["instances Employee", "switching", "reclaiming"])
        #expect(seen.value.first?.stage == MigrationProgress.Stage(from: "1.0.0", to: "2.0.0", place: 1, count: 1))
        #expect(seen.value.last?.stage == nil)
        let bytes = seen.value.map(\.bytesWritten)
        #expect(bytes == bytes.sorted() && (bytes.last ?? 0) > 0)

        seen.value = []
        try stores[1].use(Work2.self, MappedWorkPlan.self, migration: options) { _, _ in }
        #expect(
            course(seen.value) == [
                "instances Employee->Employee", "instances photos", "instances cities",
                "relationships Employee->Employee", "relationships cities",
                "validation Employee->Employee", "validation photos", "validation cities",
                "validation Employee", "validation Project", "validation Room", "switching", "reclaiming",
            ])
        for pass in [MigrationPass.instances, .relationships] {
            let last = seen.value.last { $0.pass == pass && $0.mapping == "Employee->Employee" }
            #expect(last?.done == last?.total && last?.done == (pass == .instances ? 200 : 180))
        }
        let checked = seen.value.last { $0.pass == .validation && $0.entity == "Project" && $0.mapping == nil }
        #expect(checked?.total == 10)

        seen.value = []
        let shops = try Shops()
        let closure: ShopStages.Closure = { context in
            for shelf in try context.all(Shop1.Shelf.self) { shelf.label += "" }
            try context.save()
            _ = try context.all(Shop1.Shelf.self)
        }
        try shops.migrate([ShopStages.custom(will: closure)], options) { _, _ in }
        #expect(
            course(seen.value) == [
                "copying", "copying Item", "copying Shelf", "copying Tag", "copying Poster", "closures",
                "indexes Item", "switching", "reclaiming",
            ])
        #expect(seen.value.last { $0.pass == .closures }?.done == 4)
        let last = seen.value.last { $0.pass == .indexes }
        #expect(last?.done == 60 && last?.total == 60)

        seen.value = []
        let lightweight = try Shops()
        try lightweight.migrate(
            [.lightweight(fromVersion: Shop1.self, toVersion: Shop2.self)], options
        ) { _, _ in }
        #expect(course(seen.value) == ["indexes Item", "switching", "reclaiming"])
        #expect(seen.value.last?.done == 2, "the pictures of posters")
    }

    @Test func `it has the memory that the engine counts, of the ceiling`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        var (options, seen) = options(1_000)
        options.memoryCeiling = 16 << 20
        try stores.use(Work2.self, WorkPlan.self, migration: options) { _, _ in }
        let counted = seen.value.map(\.engineBytes)
        #expect(counted.allSatisfy { (1...16 << 20).contains($0) }, "\(counted)")
        #expect(Set(counted).count > 1)
        seen.value = []
    }

    @Test(arguments: [0, 40])
    func `progress comes every thousand objects, or every 100 ms`(milliseconds: UInt64) throws {
        let stores = Stores()
        try stores.use(Work1.self) { _, context in
            for number in 0..<2_500 {
                context.insert(Work1.Employee(number: number, name: "first last", city: "c"))
            }
            try context.save()
        }
        let now = Guarded<UInt64>(0)
        let clock = Clock {
            1
        } monotonicNanoseconds: {
            now.withLock { $0 }
        }
        let notes = StageNotes()
        // Each object takes this long.
        notes.during = { now.withLock { $0 += milliseconds * 1_000_000 } }
        let (watched, seen) = options(4_000)
        var options = watched
        // The clock belongs to one thread.
        options.workerCount = 1
        try StageNotes.$current.withValue(notes) {
            try stores.use(Work2.self, WorkPlan.self, migration: options, clock: clock) { _, _ in }
        }
        let told = seen.value.filter { $0.pass == .instances }
        if milliseconds == 0 {
            #expect(told.map(\.done) == [0, 1_000, 2_000, 2_500])
            #expect(told.allSatisfy { $0.objectsPerSecond == nil && $0.timeLeft == nil })
        } else {
            // Every third object, and every thousandth.
            #expect(told.prefix(4).map(\.done) == [0, 3, 6, 9])
            #expect(told.contains { $0.done == 1_000 } && told.contains { $0.done == 1_003 })
            let one = try #require(told.first { $0.done == 1_501 })
            #expect(one.objectsPerSecond == 25)
            #expect(one.timeLeft == .milliseconds((2_500 - one.done) * 40))
        }
    }

    @Test func `copying ends a transaction where it is time to tell`() throws {
        let shops = try Shops()
        let now = Guarded<UInt64>(0)
        // Each reading of the clock is a second later.
        let clock = Clock {
            1
        } monotonicNanoseconds: {
            now.withLock {
                $0 += 1_000_000_000
                return $0
            }
        }
        let (options, seen) = options()
        try ShopStages.$current.withValue(ShopStages([ShopStages.custom(will: { _ in })])) {
            try shops.stores.use(Shop2.self, ShopPlan.self, migration: options, clock: clock) { _, _ in }
        }
        let items = seen.value.filter { $0.pass == .copying && $0.entity == "Item" }.map(\.done)
        #expect(items.first == 0 && items.last == Shops.count && items == items.sorted())
    }

    @Test func `a chain says which stage is under way`() throws {
        let shops = try Shops()
        let (options, seen) = options()
        try shops.migrate(
            to: Shop3.self,
            [ShopStages.custom(will: { _ in }), .lightweight(fromVersion: Shop2.self, toVersion: Shop3.self)], options
        ) { container, _ in
            #expect(container.migrationReport.stages.map(\.kind) == [.custom, .lightweight])
        }
        let stages = Set(seen.value.compactMap(\.stage).map { "\($0.from)-\($0.to) \($0.place)/\($0.count)" })
        #expect(stages == ["1.0.0-2.0.0 1/2"])
    }

    @Test func `a slow reader of the sequence gets the newest progress, and its end`() async throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        var (options, seen) = options()
        let first = options.progressUpdates()
        let second = options.progressUpdates()
        try stores.use(Work2.self, WorkPlan.self, migration: options) { _, _ in }
        var got: [[MigrationProgress]] = [[], []]
        for await progress in first { got[0].append(progress) }
        for await progress in second { got[1].append(progress) }
        let newest = try #require(seen.value.last)
        #expect(got == [[newest], [newest]])
        #expect(newest.pass == .reclaiming)
        seen.value = []
    }

    @Test func `a sequence ends where the container is refused`() async throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        var options = MigrationOptions()
        let updates = options.progressUpdates()
        let notes = StageNotes()
        notes.throwsAt = 3
        StageNotes.$current.withValue(notes) {
            _ = #expect(throws: MigrationError.self) {
                try stores.open(Work2.self, WorkPlan.self, migration: options)
            }
        }
        var passes: [MigrationPass] = []
        for await progress in updates { passes.append(progress.pass) }
        #expect(passes == [.instances])
    }

    @Test func `a configuration's options make sequences too`() async throws {
        let directory = TemporaryDirectory()
        let stores = Stores(PosixDisk(), directory.path + "/store")
        try WorkStore.make(in: stores)
        var configuration = ModelConfiguration(
            url: URL(filePath: stores.directory, directoryHint: .isDirectory))
        let updates = configuration.options.migration.progressUpdates()
        #expect(configuration.options == StoreOptions())
        let container = try ModelContainer(
            for: Schema(versionedSchema: Work2.self), migrationPlan: WorkPlan.self, configurations: configuration)
        var passes: [MigrationPass] = []
        for await progress in updates { passes.append(progress.pass) }
        #expect(passes == [.reclaiming])
        try container.close()
    }
}
