import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

struct MigrationControlTests {
    private func options(_ control: MigrationControl, _ batch: Int = 1 << 20) -> MigrationOptions {
        var options = MigrationOptions()
        options.batchByteCount = batch
        options.control = control
        return options
    }

    private func cancelled(_ body: () throws -> Void) {
        let error = #expect(throws: MigrationError.self) { try body() }
        #expect(error?.code == .cancelled, "\(String(describing: error))")
    }

    @Test func `a streamed stage that is cancelled goes on at the next object`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let control = MigrationControl()
        let notes = StageNotes()
        notes.during = { if notes.seen.count == 100 { control.cancel() } }
        try StageNotes.$current.withValue(notes) {
            cancelled { _ = try stores.open(Work2.self, WorkPlan.self, migration: options(control)) }
            #expect(notes.seen == Array(0...100))
            #expect(control.status == .cancelled)
            // The control stays cancelled.
            cancelled { _ = try stores.open(Work2.self, WorkPlan.self, migration: options(control)) }
            #expect(notes.seen.count == 101)
            notes.during = nil
            try stores.use(Work2.self, WorkPlan.self, migration: options(MigrationControl())) { container, context in
                #expect(notes.seen == Array(0..<200))
                #expect(container.migrationReport.resumes == 2)
                try WorkStore.check(context)
            }
        }
        #expect(try stores.findings(Work2.self) == [])
    }

    @Test func `a streamed stage that is cancelled can be given up`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let control = MigrationControl()
        let notes = StageNotes()
        notes.during = { if notes.seen.count == 100 { control.cancel() } }
        StageNotes.$current.withValue(notes) {
            cancelled { _ = try stores.open(Work2.self, WorkPlan.self, migration: options(control, 1)) }
        }
        try stores.use(Work1.self) { container, context in
            try #expect(context.fetchCount(FetchDescriptor<Work1.Employee>()) == 200)
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 40)
            context.insert(Work1.Room(label: "new"))
            try context.save()
        }
        #expect(try stores.findings(Work1.self) == [])
    }

    @Test(arguments: ["fetch", "save", "nothing", "another thread"])
    func `a cancelled custom stage ends, even if its closure catches the error`(use: String) throws {
        let shops = try Shops()
        let control = MigrationControl()
        let closure: ShopStages.Closure = { context in
            for item in try context.all(Shop1.Item.self) { item.price = -1 }
            try context.save()
            control.cancel()
            switch use {
            case "fetch": _ = try? context.all(Shop1.Item.self)
            case "save":
                context.insert(Shop1.Shelf(label: "x"))
                try? context.save()
            case "another thread":
                let container = context.container
                let met = Guarded<(any Error)?>(nil)
                let thread = Thread {
                    do { _ = try ModelContext(container).all(Shop1.Item.self) } catch { met.withLock { $0 = error } }
                }
                thread.start()
                while !thread.isFinished { usleep(1_000) }
                #expect((met.withLock { $0 } as? MigrationError)?.code == .cancelled)
            default: break
            }
        }
        let error = try shops.failure([ShopStages.custom(will: closure)], options(control, 1))
        #expect(error?.code == .cancelled)
        try shops.checkOld()
        try shops.migrate([ShopStages.custom(will: { _ in })]) { container, context in
            #expect(container.migrationReport.resumes == 0)
            try Shops.checkItems(context)
        }
    }

    @Test(arguments: [
        (MigrationPass.instances, 0), (.instances, 7), (.relationships, 7), (.validation, 0), (.switching, 0),
    ])
    func `a cancelled mapped stage ends in any pass`(pass: MigrationPass, done: Int) throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let control = MigrationControl()
        var options = options(control, 1)
        let now = Guarded<UInt64>(0)
        let clock = Clock {
            1
        } monotonicNanoseconds: {
            now.withLock {
                $0 += 1_000_000_000
                return $0
            }
        }
        options.progress = { if $0.pass == pass, $0.done >= done { control.cancel() } }
        cancelled {
            _ = try stores.open(Work2.self, MappedWorkPlan.self, migration: options, clock: clock)
        }
        try stores.use(Work1.self) { container, context in
            try #expect(context.fetchCount(FetchDescriptor<Work1.Employee>()) == 200)
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 40)
        }
        #expect(try stores.findings(Work1.self) == [])
        try stores.use(Work2.self, MappedWorkPlan.self) { _, context in try WorkStore.check(context) }
        #expect(try stores.findings(Work2.self) == [])
    }

    @Test func `the building of an index can be cancelled`() throws {
        let shops = try Shops()
        let control = MigrationControl()
        var options = options(control)
        options.progress = { if $0.pass == .indexes { control.cancel() } }
        let stages = [MigrationStage.lightweight(fromVersion: Shop1.self, toVersion: Shop2.self)]
        #expect(try shops.failure(stages, options)?.code == .cancelled)
        try shops.checkOld()
        #expect(try shops.failure(stages, options)?.code == .cancelled)
        try shops.migrate(stages) { _, context in try Shops.checkItems(context) }
    }

    @Test func `after the switch nothing is cancelled`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let control = MigrationControl()
        var options = options(control)
        options.progress = { if $0.pass == .reclaiming { control.cancel() } }
        let notes = StageNotes()
        notes.movesPhotos = false
        try StageNotes.$current.withValue(notes) {
            try stores.use(Work2.self, WorkPlan.self, migration: options) { container, context in
                #expect(control.status == .cancelled)
                #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 0)
                try WorkStore.check(context, photosMoved: false)
            }
        }
    }

    @Test(.timeLimit(.minutes(2)), arguments: [false, true])
    func `a paused migration waits until it goes on, or is cancelled`(isCancelled: Bool) throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let control = MigrationControl()
        let notes = StageNotes()
        let seenInPause = Guarded(0)
        let threads = TestThreads()
        #expect(control.status == .running)
        notes.during = {
            guard notes.seen.count == 100 else { return }
            control.pause()
            #expect(control.status == .pausing)
            threads.run {
                while control.status != .paused { usleep(1_000) }
                seenInPause.withLock { $0 = notes.seen.count }
                if isCancelled { control.cancel() } else { control.resume() }
            }
        }
        try StageNotes.$current.withValue(notes) {
            if isCancelled {
                cancelled { _ = try stores.open(Work2.self, WorkPlan.self, migration: options(control)) }
                #expect(notes.seen.count == 101)
            } else {
                try stores.use(Work2.self, WorkPlan.self, migration: options(control)) { _, context in
                    try WorkStore.check(context)
                }
                #expect(control.status == .running)
            }
        }
        threads.join()
        #expect(seenInPause.withLock { $0 } == 101)
    }
}
