import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// Objects that give up the key of another one while a migration makes it unique.
struct OnlineKeyTests {
    private static let count = 2_500

    /// The object without an entry, and what happens to it.
    enum Giving: CaseIterable {
        /// It was saved behind the first object of its number.
        case lateIsDeleted, lateIsRenumbered
        /// The same, and the first object gets another number in the same save.
        case lateIsDeletedAsTheFirstIsRenumbered
        /// It was there before, and the migration has not reached it, or it was saved since.
        case oldIsDeleted, oldIsRenumbered

        var isOld: Bool { self == .oldIsDeleted || self == .oldIsRenumbered }
        var renumbersFirst: Bool { self == .lateIsDeletedAsTheFirstIsRenumbered }
        var deletes: Bool { self != .lateIsRenumbered && self != .oldIsRenumbered }
    }

    /// When it gives up its key: while rows are entered, or behind the checkpoint that follows.
    enum Moment: CaseIterable {
        case beforeCheckpoint, afterCheckpoint
    }

    /// Saves with two objects of number 17.
    // Safe because the migration reports its progress on the thread that uses it.
    private final class Pair: @unchecked Sendable {
        let context: ModelContext
        let first: Depot1.Item
        let second: Depot1.Item
        let giving: Giving
        let moment: Moment
        private(set) var saveCount = 0
        private(set) var failure: (any Error)?

        init(_ context: ModelContext, _ giving: Giving, _ moment: Moment) throws {
            self.context = context
            self.giving = giving
            self.moment = moment
            let pair = try context.fetch(
                FetchDescriptor<Depot1.Item>(
                    predicate: #Predicate { $0.number == 17 }, sortBy: [SortDescriptor(\.name)]))
            first = try #require(pair.first)
            second = giving.isOld ? try #require(pair.last) : Depot1.Item(17, "second")
        }

        func save(at progress: MigrationProgress) {
            guard saveCount < 2 else { return }
            let isDue =
                switch (saveCount, moment) {
                case (0, _): progress.pass == .indexes && progress.done >= 1_000
                case (_, .beforeCheckpoint):
                    progress.pass == .indexes && progress.done >= (giving.isOld ? 1_000 : 2_000)
                case (_, .afterCheckpoint): progress.pass == .switching
                }
            guard isDue else { return }
            if saveCount == 1 { give() } else if giving.isOld { second.name += "!" } else { context.insert(second) }
            saveCount += 1
            do { try context.save() } catch { failure = failure ?? error }
        }

        private func give() {
            if giving.deletes { context.delete(second) } else { second.number = -17 }
            if giving.renumbersFirst { first.number = 50_017 }
        }
    }

    private func check(_ context: ModelContext, _ giving: Giving) throws {
        let wanted = FetchDescriptor<Depot2.Item>(predicate: #Predicate { $0.number == 17 })
        let names = try context.fetch(wanted).map(\.name)
        #expect(names == (giving.renumbersFirst ? [] : ["item 17"]))
        let moved = FetchDescriptor<Depot2.Item>(predicate: #Predicate { $0.number == 50_017 })
        #expect(try context.fetchCount(moved) == (giving.renumbersFirst ? 1 : 0))
        let given = FetchDescriptor<Depot2.Item>(predicate: #Predicate { $0.number == -17 })
        #expect(try context.fetchCount(given) == (giving.deletes ? 0 : 1))
    }

    /// A new object of the number replaces the values of the one that has it.
    private func insertAnother(_ context: ModelContext) throws {
        let count = try context.all(Depot2.Item.self).count
        let hasOne = try !context.fetch(FetchDescriptor<Depot2.Item>(predicate: #Predicate { $0.number == 17 })).isEmpty
        context.insert(Depot2.Item(17, "another"))
        try context.save()
        let all = try context.all(Depot2.Item.self)
        #expect(all.count == (hasOne ? count : count + 1))
        #expect(all.filter { $0.number == 17 }.map(\.name) == ["another"])
    }

    @Test(arguments: Giving.allCases, Moment.allCases)
    func `a number stays with the object that has it when another one gives it up`(
        giving: Giving, moment: Moment
    ) throws {
        let disk = SimulatedDisk(directories: ["/s"])
        let stores = Stores(disk, "/s/store")
        try stores.use(Depot1.self) { container, context in
            try DepotWriter.make(container, count: Self.count)
            if giving.isOld {
                context.insert(Depot1.Item(17, "second"))
                try context.save()
            }
        }
        let old = try stores.open(Depot1.self)
        let pair = try Pair(ModelContext(old), giving, moment)
        let killed = Guarded<SimulatedDisk?>(nil)
        var options = MigrationOptions { progress in
            pair.save(at: progress)
            // Behind the switch.
            guard progress.pass == .reclaiming else { return }
            killed.withLock { $0 = $0 ?? disk.withOnlyWhatIsDurable() }
        }
        options.isOnline = true
        let new = try stores.open(Depot2.self, ShortDepotPlan.self, migration: options)
        #expect(pair.saveCount == 2)
        #expect(pair.failure == nil)
        try check(ModelContext(new), giving)
        new.rowStore.log.abandonForTests()
        let image = Stores(try #require(killed.withLock { $0 }), "/s/store")
        for left in [image, stores] {
            try left.use(Depot2.self, ShortDepotPlan.self) { container, context in
                #expect(container.migrationReport.versions.isEmpty)
                try check(context, giving)
            }
            #expect(try left.findings(Depot2.self) == [])
            try left.use(Depot2.self) { _, context in try insertAnother(context) }
            #expect(try left.findings(Depot2.self) == [])
        }
    }
}
