import Faultline
import FaultlineLog
import FaultlineObjects
import FaultlineStore
import FaultlineTestSupport
import Testing

@Model final class Passport {
    @Attribute(.unique, .preserveValueOnDeletion) var serial: String
    @Attribute(.preserveValueOnDeletion) var pages: Int = 32
    @Attribute(.preserveValueOnDeletion) var photo: Data?
    var holder: String
    @Relationship(deleteRule: .cascade, inverse: \Stamp.passport) var stamps: [Stamp] = []

    init(_ serial: String, _ holder: String = "") {
        self.serial = serial
        self.holder = holder
    }
}

@Model final class Stamp {
    var country: String
    var passport: Passport?

    init(_ country: String) { self.country = country }
}

/// The transactions and changes in the history of a store's saves.
@Suite struct HistoryTests {
    private func makeStore() throws -> TestStore {
        try TestStore(Passport.self, Stamp.self, Folder.self, Document.self, Label.self, Body.self)
    }

    @Test func `S75: every save is exactly one transaction`() throws {
        let store = try makeStore()
        let context = store.context()
        try context.save()
        #expect(try context.history().isEmpty)
        for number in 0..<3 {
            context.insert(Passport("\(number)"))
            context.insert(Stamp("\(number)"))
            try context.save()
        }
        try context.save()
        let gone = Passport("gone")
        context.insert(gone)
        context.delete(gone)
        try context.save()
        let transactions = try store.reopened().history()
        #expect(transactions.count == 3)
        #expect(transactions.map(\.changes.count) == [2, 2, 2])
        #expect(zip(transactions, transactions.dropFirst()).allSatisfy { $0.token < $1.token })
        #expect(zip(transactions, transactions.dropFirst()).allSatisfy { $0.timestamp <= $1.timestamp })
        #expect(transactions.allSatisfy { abs($0.timestamp.timeIntervalSinceNow) < 600 })
        #expect(transactions.allSatisfy { $0.processIdentifier == "\(ProcessInfo.processInfo.processIdentifier)" })
    }

    @Test func aBatchInsertionIsOneTransaction() throws {
        let store = try makeStore()
        let context = store.context()
        let passports = ["a", "b"].map { Passport($0) }
        passports.forEach(context.insert)
        try context.save()
        let token = try #require(try context.history().last).token
        try context.batchInsert(
            Stamp.self,
            (0..<1_000).lazy.map { ["country": "\($0)", "passport": passports[$0 % 2].persistentModelID] })
        try context.batchInsert(Passport.self, [["serial": "a", "holder": "other"], ["serial": "c", "holder": ""]])
        let after = try store.reopened().fetchHistory(
            HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token }))
        #expect(after.count == 2)
        var counts: [String: Int] = [:]
        for transaction in after {
            for change in transaction.changes {
                let kind =
                    switch change {
                    case .insert: "insert"
                    case .update: "update"
                    case .delete: "delete"
                    }
                counts["\(kind) \(change.changedPersistentIdentifier.entityName)", default: 0] += 1
            }
        }
        // The passports have other stamps, one of them has another holder, and one is new.
        #expect(counts == ["insert Stamp": 1_000, "update Passport": 3, "insert Passport": 1])
    }

    @Test func `S73: the author is recorded, and an older token expires when history is deleted`() throws {
        let store = try makeStore()
        let context = store.context()
        for author in ["import", nil, "app"] as [String?] {
            context.author = author
            context.insert(Stamp(author ?? ""))
            try context.save()
        }
        let all = try context.history()
        #expect(all.map(\.author) == ["import", nil, "app"])
        let (first, second) = (all[0].token, all[1].token)
        let wanted = HistoryDescriptor<DefaultHistoryTransaction>(
            predicate: #Predicate { $0.token > first && $0.author == "app" })
        #expect(try context.fetchHistory(wanted) == [all[2]])

        try context.deleteHistory(
            HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token < second }))
        #expect(try store.context().history().map(\.author) == [nil, "app"])
        #expect(throws: SwiftDataError.historyTokenExpired) { try context.fetchHistory(wanted) }
        let behind = HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > second })
        #expect(try context.fetchHistory(behind).map(\.author) == ["app"])
        try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        #expect(throws: SwiftDataError.historyTokenExpired) { try context.fetchHistory(behind) }
        #expect(try store.reopened().history().isEmpty)
    }

    @Test func `S74: tombstones have the preserved values, and no others`() throws {
        let store = try makeStore()
        let context = store.context()
        let passport = Passport("X1", "Ada")
        passport.pages = 48
        passport.stamps = [Stamp("IT")]
        let large = Passport("X2")
        large.photo = Data(repeating: 7, count: 10_000)
        context.insert(passport)
        context.insert(large)
        try context.save()
        context.delete(passport)
        context.delete(large)
        try context.save()
        let changes = try #require(store.reopened().history().last?.changes)
        var serials: [String] = []
        for case .delete(let change) in changes {
            guard let change = change as? DefaultHistoryDelete<Passport> else {
                let stamp = try #require(change as? DefaultHistoryDelete<Stamp>)
                #expect(Array(stamp.tombstone).isEmpty)
                continue
            }
            let serial = try #require(change.tombstone[\.serial] as? String)
            serials.append(serial)
            #expect(change.tombstone[\.pages] as? Int == (serial == "X1" ? 48 : 32))
            #expect(change.tombstone[\.photo] == nil)
            #expect(change.tombstone[\.holder] == nil)
            #expect(change.tombstone["serial"] as? String == serial)
            #expect(Array(change.tombstone).count == 2)
        }
        #expect(serials.sorted() == ["X1", "X2"])
        #expect(changes.count == 3)
    }

    @Test func updatesNameWhatWasSet() throws {
        let store = try makeStore()
        let context = store.context()
        let passport = Passport("1")
        let stamp = Stamp("FR")
        context.insert(passport)
        context.insert(stamp)
        try context.save()
        passport.holder = "Grace"
        passport.stamps = [stamp]
        try context.save()
        var updates: [String: [String]] = [:]
        for case .update(let change) in try #require(context.history().last?.changes) {
            updates[change.changedPersistentIdentifier.entityName] = change.updatedPropertyNames.sorted()
            if let change = change as? DefaultHistoryUpdate<Passport> {
                #expect(Set(change.updatedAttributes.map { $0 as AnyKeyPath }) == [\Passport.holder, \Passport.stamps])
            }
        }
        #expect(updates == ["Passport": ["holder", "stamps"], "Stamp": ["passport"]])
    }

    @Test func anInsertThatTakesAPlaceIsAnUpdateInTheHistory() throws {
        let store = try makeStore()
        let context = store.context()
        context.insert(Passport("1"))
        try context.save()
        let number = try context.first(Passport.self).persistentModelID
        let other = store.context()
        other.insert(Passport("1", "again"))
        other.insert(Passport("2"))
        other.insert(Passport("2", "twice"))
        try other.save()
        let changes = try #require(other.history().last?.changes)
        #expect(changes.count == 2)
        guard case .update(let change)? = changes.first(where: { $0.changedPersistentIdentifier == number }) else {
            Issue.record("no update")
            return
        }
        #expect(change.updatedPropertyNames.contains("holder"))
    }

    @Test func batchesAndDeleteRulesAreInTheHistory() throws {
        let store = try makeStore()
        let context = store.context()
        for number in 0..<100 {
            let passport = Passport("\(number)")
            passport.stamps = [Stamp("IT")]
            context.insert(passport)
        }
        try context.save()
        try context.batchUpdate(Passport.self, where: #Predicate { $0.pages == 32 }, .set(\.holder, to: "x"))
        try context.batchDelete(Passport.self, where: #Predicate { $0.serial < "5" })
        let transactions = try store.reopened().history()
        #expect(transactions.count == 3)
        #expect(transactions[0].changes.count == 200)
        #expect(transactions[1].changes.count == 100)
        for case .update(let change) in transactions[1].changes { #expect(change.updatedPropertyNames == ["holder"]) }
        let deleted = try transactions[2].changes.compactMap { change -> String? in
            guard case .delete(let change) = change else { throw Unexpected() }
            return change.changedPersistentIdentifier.entityName
        }
        #expect(deleted.count { $0 == "Stamp" } == deleted.count / 2)
        #expect(deleted.count == (try 200 - 2 * store.context().fetchCount(FetchDescriptor<Passport>())))
    }

    private struct Unexpected: Error {}

    // MARK: Cost

    @Test func aBulkOfNewObjectsIsAFewBytes() throws {
        let store = try makeStore()
        let context = store.context()
        for number in 0..<20_000 {
            context.insert(Stamp("\(number)"))
            context.insert(Label("\(number)"))
        }
        try context.save()
        let snapshot = store.container.rowStore.log.snapshot()
        #expect(snapshot.recordCount(of: .history) == 1)
        #expect(try snapshot.recordByteCount(of: .history) < 100)
        #expect(try context.history().first?.changes.count == 40_000)
    }

    @Test func whatIsBehindATokenIsSoughtNotRead() throws {
        let store = try makeStore()
        let context = store.context()
        for number in 0..<200 {
            context.insert(Stamp("\(number)"))
            try context.save()
        }
        let token = try context.history()[196].token
        let before = context.core.reports.walked.historyRecords
        let wanted = HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { token < $0.token })
        #expect(try context.fetchHistory(wanted).count == 3)
        #expect(context.core.reports.walked.historyRecords - before == 3)
    }

    @Test func aLargeTransactionIsSplit() throws {
        let store = try makeStore()
        let context = store.context()
        let stamps = (0..<40_000).map { Stamp("\($0)") }
        stamps.forEach(context.insert)
        try context.save()
        for stamp in stamps where Int(stamp.country)! % 3 == 0 { stamp.country += "x" }
        try context.save()
        let log = store.container.rowStore.log
        #expect(log.snapshot().recordCount(of: .history) > 2)
        let last = try #require(store.reopened().history().last)
        #expect(last.changes.count == 13_334)
        try store.context().deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        #expect(store.container.rowStore.log.snapshot().recordCount(of: .history) == 0)
    }

    @Test func aStoreWithoutHistoryStaysOne() throws {
        var options = StoreOptions()
        options.history = .off
        let folder = TemporaryDirectory()
        var configuration = ModelConfiguration(url: URL(filePath: "\(folder.path)/off.store"))
        configuration.options = options
        let container = try ModelContainer(for: Schema([Stamp.self, Passport.self]), configurations: [configuration])
        let context = ModelContext(container)
        context.insert(Stamp("x"))
        try context.save()
        #expect(try context.history().isEmpty)
        #expect(container.rowStore.log.snapshot().recordCount(of: .history) == 0)
        try container.close()
        let identity = try Data(contentsOf: URL(filePath: "\(folder.path)/off.store/IDENTITY"))
        #expect(identity[72] == 0)
    }

    @Test func theStoreSaysThatItHasAHistory() throws {
        let store = try makeStore()
        let context = store.context()
        context.insert(Stamp("x"))
        try context.save()
        let url = try #require(store.url)
        #expect(try Data(contentsOf: url.appending(path: "IDENTITY"))[72] & 1 == 1)
    }

    // MARK: Damage

    @Test(
        arguments: [
            [], [1], [9, 3], [1, 3, 1, 1, 1], [1, 3, 1, 1, 1, 0, 9], [1, 3, 1, 1, 1, 0, 2, 2, 0],
            [1, 3, 1, 1, 1, 0, 1, 16, 1, 2, 1, 0], [1, 3, 1, 1, 1, 0, 1, 16, 1, 3, 0, 2, 0],
            [1, 3, 1, 1, 1, 0, 1, 16, 1, 5, 2, 1, 200, 1], [1, 3, 1, 1, 1, 100, 65], [1, 4, 1, 1],
            [1, 3, 1, 1, 1, 0, 1, 16, 1, 2, 2, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1],
        ] as [[UInt8]])
    func bytesThatAreNoHistoryAreDamage(_ bytes: [UInt8]) throws {
        let store = try makeStore()
        let log = store.container.rowStore.log
        _ = try log.write(author: nil) { transaction in
            let number = try transaction.allocateIDs(1, in: .history)
            try transaction.put(number, in: .history, layout: 0, changed: nil, flags: [], byteCount: bytes.count) {
                target in bytes.withUnsafeBytes { target.copyMemory(from: $0) }
            }
        }
        let error = #expect(throws: StorageError.self) { try store.context().history() }
        #expect(error?.code == .damaged)
        #expect(error?.path != nil && error?.offset != nil)
    }
}

extension ModelContext {
    func history() throws -> [DefaultHistoryTransaction] {
        try fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    }
}
