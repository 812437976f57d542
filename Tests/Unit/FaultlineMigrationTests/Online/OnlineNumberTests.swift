import Dispatch
import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Glibc
import Synchronization
import Testing

/// Numbers of indexes when a step of an online migration cannot be recorded.
struct OnlineNumberTests {
    private static let count = 600
    private static let lateCount = 1_000

    private let base: SimulatedDisk
    private let disk: FailingDisk
    private let stores: Stores

    init() {
        base = SimulatedDisk(directories: ["/s"])
        disk = FailingDisk(over: base)
        stores = Stores(disk, "/s/store")
    }

    /// A disk that has room for the next large transaction, and not for the one behind it.
    private static var fullBehindTheNext: DiskFault {
        let count = Guarded(0)
        return DiskFault(errorNumber: ENOSPC, isSticky: true) { operation in
            guard operation.kind == .reserve else { return false }
            let place = count.withLock { count in
                count += 1
                return count - 1
            }
            // The first one asks for room ahead, then for as much as it needs; so does the second one.
            return [0, 2, 3].contains(place)
        }
    }

    /// Saves items in one transaction that has the writer lock while the migration prepares its second step; the record
    /// of that step finds the disk full.
    private func saveBeforeTheRecord(_ old: ModelContainer, begun: DispatchSemaphore) throws {
        var number = 0
        _ = try ModelContext(old).batchInsert(Depot1.Item.self) { row in
            if number == 0 {
                begun.signal()
                usleep(500_000)
                disk.arm(Self.fullBehindTheNext)
            }
            guard number < Self.lateCount else { return false }
            row.set(\.number, to: 100_000 + number)
            row.set(\.name, to: "late \(number) " + String(repeating: "x", count: 250))
            number += 1
            return true
        }
    }

    /// Migrates over two stages; the record of the second one cannot be written.
    private func migrateInVain(_ old: ModelContainer) throws {
        let failures = Guarded<[String]>([])
        let (begun, threads) = (DispatchSemaphore(value: 0), TestThreads())
        var options = MigrationOptions()
        options.isOnline = true
        options.addObserver { event in
            guard case .stageBegan(let stage) = event, stage.stage.place == 2 else { return }
            threads.run {
                do { try saveBeforeTheRecord(old, begun: begun) } catch { failures.withLock { $0.append("\(error)") } }
            }
            begun.wait()
        }
        let error = #expect(throws: StorageError.self) {
            _ = try stores.open(Depot3.self, DepotPlan.self, migration: options)
        }
        threads.join()
        #expect(error?.code == .fullDisk)
        #expect(failures.withLock { $0 } == [])
        #expect(disk.hitCount == 3)
        disk.disarm()
    }

    private func check(_ context: ModelContext) throws {
        for number in Array(stride(from: 0, to: Self.count, by: 29)) + [100_000, 100_999] {
            let wanted = FetchDescriptor<Depot3.Item>(predicate: #Predicate { $0.number == number })
            try #expect(context.fetchCount(wanted) == 1, "number \(number)")
        }
        let named = FetchDescriptor<Depot3.Item>(predicate: #Predicate { $0.name == "item 5" })
        try #expect(context.fetchCount(named) == (0..<Self.count).filter { $0 % 97 == 5 }.count)
    }

    @Test func `an index gets no number that a step used in vain`() throws {
        try stores.use(Depot1.self) { container, _ in try DepotWriter.make(container, count: Self.count) }
        let old = try stores.open(Depot1.self)
        try migrateInVain(old)
        #expect(try ModelContext(old).fetchCount(FetchDescriptor<Depot1.Item>()) == Self.count + Self.lateCount)
        var options = MigrationOptions()
        options.isOnline = true
        let new = try stores.open(Depot3.self, DepotPlan.self, migration: options)
        let context = ModelContext(new)
        try check(context)
        // A kill behind a checkpoint leaves the runs that it lists.
        for round in 0..<3 {
            context.insert(Depot3.Item(200_000 + round, "round"))
            try context.save()
            try new.rowStore.log.checkpoint()
            let image = Stores(base.withOnlyWhatIsDurable(), "/s/store")
            try image.use(Depot3.self, DepotPlan.self) { _, context in try check(context) }
            #expect(try image.findings(Depot3.self) == [], "round \(round)")
        }
        try new.close()
        try old.close()
        #expect(try stores.findings(Depot3.self) == [])
    }
}
