import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineObjects
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// An account under both versions.
private protocol Account: PersistentModel {
    var number: Int { get }
    var balance: Int { get set }
    /// Counts the writes.
    var version: Int { get set }
}

private enum Bank1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Entry.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Entry: Account {
        var number: Int
        var balance: Int
        var version: Int = 0
        init(_ number: Int, balance: Int) {
            self.number = number
            self.balance = balance
        }
    }
}

private enum Bank2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Entry.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Entry: Account {
        #Index<Entry>([\.balance], [\.version, \.number])
        @Attribute(.unique) var number: Int
        var balance: Int
        var version: Int = 0
        var note: String = "new"
        init(_ number: Int, balance: Int) {
            self.number = number
            self.balance = balance
        }
    }
}

/// Transfers between accounts on several threads while the store is migrated online, and killed: they must have the
/// effect of one after the other.
struct OnlineLivesTests {
    /// A transfer: the versions of the accounts that it read, and its writes.
    private struct Transfer {
        var reads: [Int: Int] = [:]
        /// By account: its new version and balance.
        var writes: [Int: (version: Int, balance: Int)] = [:]
    }

    private struct Record {
        /// Those whose save was called, also if it failed or was not done when the store was killed.
        var tried: [Transfer] = []
        var saved: [Transfer] = []
        var errors: [String] = []
    }

    private static let accountCount = 6
    private static let idleCount = 400
    private static let startBalance = 1_000

    /// Reads three accounts, and moves money between two of them.
    private static func transfer<A: Account>(
        _ type: A.Type, _ container: ModelContainer, _ random: inout SeededNumbers, _ record: borrowing Guarded<Record>
    ) throws {
        let context = ModelContext(container)
        context.mergePolicy = .error
        let limit = accountCount
        let all = try context.fetch(FetchDescriptor<A>()).filter { $0.number < limit }.sorted { $0.number < $1.number }
        let from = random.below(limit)
        let to = (from + 1 + random.below(limit - 1)) % limit
        let other = (0..<limit).first { $0 != from && $0 != to } ?? 0
        context.detectConflicts(for: all[other])
        var transfer = Transfer()
        for account in [from, to, other] { transfer.reads[account] = all[account].version }
        let amount = 1 + random.below(20)
        all[from].balance -= amount
        all[to].balance += amount
        for account in [from, to] {
            all[account].version += 1
            transfer.writes[account] = (all[account].version, all[account].balance)
        }
        let done = transfer
        record.withLock { $0.tried.append(done) }
        try context.save()
        record.withLock { $0.saved.append(done) }
    }

    /// The problem if no order of the transfers explains their reads and writes.
    private static func fault(_ transfers: [Transfer]) -> String? {
        // By account: the writer of each version.
        var writers: [[Int: Int]] = Array(repeating: [:], count: accountCount)
        for (place, transfer) in transfers.enumerated() {
            for (account, write) in transfer.writes
            where writers[account].updateValue(place, forKey: write.version) != nil {
                return "version \(write.version) of account \(account) was written twice"
            }
        }
        var later: [[Int]] = Array(repeating: [], count: transfers.count)
        var earlierCount = Array(repeating: 0, count: transfers.count)
        func order(_ first: Int?, _ second: Int?) {
            guard let first, let second, first != second else { return }
            later[first].append(second)
            earlierCount[second] += 1
        }
        for (place, transfer) in transfers.enumerated() {
            for (account, version) in transfer.reads {
                order(writers[account][version], place)
                order(place, writers[account][version + 1])
            }
        }
        var ready = transfers.indices.filter { earlierCount[$0] == 0 }
        var count = 0
        while let next = ready.popLast() {
            count += 1
            for place in later[next] {
                earlierCount[place] -= 1
                if earlierCount[place] == 0 { ready.append(place) }
            }
        }
        return count == transfers.count ? nil : "\(transfers.count - count) transfers are in a circle"
    }

    /// The accounts of a store: number, version and balance.
    private static func check<A: Account>(_ type: A.Type, _ context: ModelContext, _ record: Record) throws {
        let accounts = try context.fetch(FetchDescriptor<A>())
        #expect(accounts.count == accountCount + idleCount)
        #expect(accounts.reduce(0) { $0 + $1.balance } == startBalance * (accountCount + idleCount))
        var known: [[Int: Int]] = Array(repeating: [0: startBalance], count: accountCount)
        for transfer in record.tried {
            for (account, write) in transfer.writes { known[account][write.version] = write.balance }
        }
        for account in accounts where account.number < accountCount {
            let newest = record.saved.compactMap { $0.writes[account.number]?.version }.max() ?? 0
            #expect(account.version >= newest, "account \(account.number)")
            // A version that several transfers tried to write is known by the one that was saved.
            let isTriedOnce = record.tried.filter { $0.writes[account.number]?.version == account.version }.count < 2
            if isTriedOnce { #expect(known[account.number][account.version] == account.balance) }
        }
    }

    private struct Killed {
        let disk: SimulatedDisk
        let record: Record
    }

    @Test func `transfers are serializable, in 50 lives with kills`() throws {
        var report = (transfers: 0, old: 0, new: 0)
        for seed in 1...50 as ClosedRange<UInt64> {
            let life = try Self.live(seed)
            report.transfers += life.transfers
            if life.isNew { report.new += 1 } else { report.old += 1 }
        }
        print("\(report.transfers) transfers; \(report.old) kills in the old state, \(report.new) in the new one")
        #expect(report.transfers > 500)
        #expect(report.old > 5)
    }

    /// One store that is migrated while three threads transfer, and is killed meanwhile.
    private final class Life: Sendable {
        private let seed: UInt64
        let disk = SimulatedDisk(directories: ["/s"])
        let record = Guarded(Record())
        let killed = Guarded<Killed?>(nil)
        let new = Guarded<ModelContainer?>(nil)

        init(_ seed: UInt64) { self.seed = seed }

        /// Keeps the disk of one of the next operations.
        func kill() {
            var random = SeededNumbers(seed)
            let fatal = disk.operationCount + 20 + random.below(400)
            disk.onOperation = { [self] disk, operation in
                guard operation >= fatal, killed.withLock({ $0 == nil }) else { return }
                // Saves that have returned by now must be on the disk.
                var all = record.withLock { $0 }
                var images = disk.crashImages()
                let left = seed % 2 == 0 ? disk.withOnlyWhatIsDurable() : images.next()?.disk ?? disk
                all.tried = record.withLock { $0.tried }
                let killing = Killed(disk: left, record: all)
                killed.withLock { if $0 == nil { $0 = killing } }
            }
        }

        /// Transfers on one thread: under the old version until it is refused, then a few times under the new one.
        func transfer(_ place: UInt64, _ old: ModelContainer) {
            var random = SeededNumbers(seed &* 31 &+ place)
            var after = 0
            while after < 8 {
                let made = new.withLock { $0 }
                do {
                    if let made {
                        after += 1
                        try OnlineLivesTests.transfer(Bank2.Entry.self, made, &random, record)
                    } else {
                        try OnlineLivesTests.transfer(Bank1.Entry.self, old, &random, record)
                    }
                } catch is MergeConflictError {
                    continue
                } catch let error as StorageError where error.code == .outdated {
                    continue
                } catch let error as SwiftDataError
                    where made == nil && error == .modelValidationFailure && new.withLock({ $0 != nil })
                {
                    // The log has taken the old context's state, because the thread was stopped for long: an account
                    // that was saved under the new version since cannot be read.
                    continue
                } catch {
                    record.withLock { $0.errors.append("\(error)") }
                    return
                }
            }
        }
    }

    /// One store, its migration, a kill in between, and the state that it leaves.
    private static func live(_ seed: UInt64) throws -> (transfers: Int, isNew: Bool) {
        let life = Life(seed)
        var stores = Stores(life.disk, "/s/store")
        stores.logOptions.checkpointByteCount = 40_000
        try stores.use(Bank1.self) { _, context in
            for number in 0..<accountCount + idleCount {
                context.insert(Bank1.Entry(number, balance: startBalance))
            }
            try context.save()
        }
        life.kill()
        let old = try stores.open(Bank1.self)
        let threads = TestThreads()
        for place in 0..<3 as Range<UInt64> { threads.run { life.transfer(place, old) } }
        var options = MigrationOptions()
        options.isOnline = true
        options.onlineRowsMax = 16
        let made: ModelContainer
        do { made = try stores.open(Bank2.self, migration: options) } catch {
            // Ends the threads.
            try? old.close()
            threads.join()
            throw error
        }
        life.new.withLock { $0 = made }
        threads.join()
        life.disk.onOperation = nil
        let end = life.record.withLock { $0 }
        #expect(end.errors == [], "seed \(seed)")
        if let fault = fault(end.saved) { Issue.record("seed \(seed): \(fault)") }
        try check(Bank2.Entry.self, ModelContext(made), end)
        made.rowStore.log.abandonForTests()
        let death = life.killed.withLock { $0 } ?? Killed(disk: life.disk.withOnlyWhatIsDurable(), record: end)
        return try (end.saved.count, look(at: death, seed))
    }

    /// Opens the store that a kill has left; whether it is in the new state.
    private static func look(at killed: Killed, _ seed: UInt64) throws -> Bool {
        let left = Stores(killed.disk, "/s/store")
        let log = try Log.open(
            left.directory, on: killed.disk, clock: .system, options: left.logOptions, deriver: RowIndexDeriver())
        // Without a plan both have one number.
        let schema = try StoredCatalog.read(log.snapshot())?.schema
        let isNew = schema?.entitiesByName["Entry"]?.attributesByName["note"] != nil
        log.abandonForTests()
        if !isNew {
            try left.use(Bank1.self) { container, context in
                #expect(try StoredCatalog.read(container.rowStore.log.snapshot())?.migration == nil)
                try check(Bank1.Entry.self, context, killed.record)
            }
            #expect(try left.findings(Bank1.self) == [], "seed \(seed)")
        }
        try left.use(Bank2.self) { _, context in try check(Bank2.Entry.self, context, killed.record) }
        #expect(try left.findings(Bank2.self) == [], "seed \(seed)")
        return isNew
    }
}

/// Numbers that depend on a seed only.
struct SeededNumbers {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func below(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(max(limit, 1)))
    }
}
