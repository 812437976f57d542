import Faultline
import FaultlineTestSupport
import Foundation
import Testing

/// Calls of a container over several stores: over all, or refused with the way to one.
@Suite(.timeLimit(.minutes(2))) struct SeveralStoresFeatureTests {
    private let stores: HarborStores
    private var container: ModelContainer { stores.container }
    private var context: ModelContext { stores.context }

    init() throws {
        stores = try HarborStores()
        context.insert(HarborPier("north"))
        context.insert(HarborVisit(1))
        try context.save()
    }

    private func isRefused(_ body: () throws -> some Any) -> Bool {
        do { _ = try body() } catch let error as SeveralStoresError {
            return error.code == .ofOneStore && error.message.contains("container.store(for:)")
        } catch { Issue.record("\(error)") }
        return false
    }

    private func isRefused(_ body: () async throws -> some Any) async -> Bool {
        let result: Result<Any, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        return isRefused { try result.get() }
    }

    @Test func `calls about one store are refused, and the store's container answers them`() async throws {
        #expect(isRefused { try context.historyToken() })
        #expect(isRefused { try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()) })
        #expect(isRefused { try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>()) })
        #expect(isRefused { try container.historyUsage() })
        #expect(isRefused { try container.gracePeriod() })
        #expect(isRefused { try container.endGracePeriod() })
        #expect(isRefused { try container.quarantine() })
        #expect(isRefused { try ModelContext(container, asOf: .transaction(1)) })
        #expect(isRefused { try container.blobWriter().write([1, 2, 3]) })
        #expect(isRefused { try container.blobWriter().finish() })
        #expect(await isRefused { try await container.past(at: .transaction(1)) })
        let backups = URL(filePath: "\(stores.folder.path)/backups")
        #expect(await isRefused { try await container.backup(to: backups) })

        let visits = try container.store(for: HarborVisit.self)
        let history = ModelContext(visits)
        let save = try #require(try history.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).first)
        #expect(isRefused { try context.undo(save) })
        #expect(save.changes.count == 1)
        #expect(try visits.historyUsage().recordCount > 0)
        _ = try await visits.backup(to: backups)
        #expect(try ModelContainer.backups(in: backups).count == 1)
        #expect(
            try ModelContext(visits, asOf: .transaction(save.queryGeneration)).fetchCount(
                FetchDescriptor<HarborVisit>()) == 1)
        try history.undo(save)
        try history.save()
        #expect(try context.fetchCount(FetchDescriptor<HarborVisit>()) == 0)
        #expect(try context.fetchCount(FetchDescriptor<HarborPier>()) == 1)
    }

    @Test func `maintenance is of all stores`() throws {
        try container.checkpoint()
        #expect(try container.compact().damage.isEmpty)
        _ = try container.rewrite()
        try container.synchronize()
        #expect(try container.refresh() == false)
        #expect(container.health.isReady)
        try container.store(for: HarborVisit.self).close()
        #expect(!container.health.isReady && container.health.reasons.map(\.code) == [.closed])
        #expect(throws: StorageError.self) { try container.checkpoint() }
    }

    @Test func `all stores are erased, and closed`() throws {
        try container.erase()
        #expect(try context.fetchCount(FetchDescriptor<HarborPier>()) == 0)
        #expect(try context.fetchCount(FetchDescriptor<HarborVisit>()) == 0)
        context.insert(HarborVisit(2))
        try context.save()
        try container.close()
        for new: any PersistentModel in [HarborVisit(3), HarborPier("east")] {
            context.insert(new)
            #expect(throws: StorageError.self) { try context.save() }
            context.rollback()
        }
        #expect(try stores.reopened().fetchCount(FetchDescriptor<HarborVisit>()) == 1)
    }

    @Test func `changes and observers of a class are those of its store`() async throws {
        let stream = container.changes(of: HarborVisit.self)
        var iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next()?.inserted.count == 1)
        let visit = HarborVisit(2)
        context.insert(visit)
        context.insert(HarborPier("south"))
        try context.save()
        #expect(try await iterator.next()?.inserted.count == 1)
    }

    @MainActor @Test func `an observer of a class sees the saves of its store`() async throws {
        let container = try HarborStores.inMemory()
        let observer = try ResultsObserver<HarborVisit, Never>(modelContainer: container)
        let count = observer.results.count
        let other = ModelContext(container)
        other.insert(HarborVisit(9))
        try other.save()
        for _ in 0..<200 where observer.results.count == count { try await Task.sleep(for: .milliseconds(10)) }
        #expect(observer.results.count == count + 1)
        #expect(throws: SeveralStoresError.self) { try HistoryObserver(modelContainer: container) }
    }

    @Test func `a large value is written into the store of its object`() async throws {
        let boat = HarborBoat("Ada")
        context.insert(boat)
        let bytes = AsyncStream { continuation in
            for _ in 0..<4 { continuation.yield([UInt8](repeating: 7, count: 100_000)) }
            continuation.finish()
        }
        try await boat.setBlob(from: bytes, for: \HarborBoat.plan)
        try context.save()
        #expect(try stores.reopened().fetch(FetchDescriptor<HarborBoat>()).first?.plan?.count == 400_000)
    }
}
