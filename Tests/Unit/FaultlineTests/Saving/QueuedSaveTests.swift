import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineObjects
import FaultlineRepair
import FaultlineStore
import FaultlineTestSupport
import Testing

/// A save that has its turn while the previous one is queued, but not published yet, still builds on that one.
@Suite struct QueuedSaveTests {
    /// A store whose disk can delay a commit.
    private final class Setting {
        let disk = SimulatedDisk(directories: ["/s"])
        let container: ModelContainer

        init(_ types: any PersistentModel.Type...) throws {
            var options = LogOptions()
            options.maintenance = .manual
            container = try ModelContainer(for: types, directory: "/s/store", on: disk, options: options)
            disk.recordsTrace = true
        }

        func context() -> ModelContext { ModelContext(container) }

        /// Saves two contexts: the second writes everything while the first one's bytes are on their way to the disk.
        func save(_ first: ModelContext, then second: ModelContext) throws {
            let other = OtherSave(second)
            disk.onOperation = { disk, _ in
                guard disk.trace.last?.site == "log.commit" else { return }
                disk.onOperation = nil
                other.runUntilWritten()
            }
            try first.save()
            try other.join()
        }

        /// The number of records in the hidden tables of links.
        var linkCount: Int {
            let snapshot = container.rowStore.log.snapshot()
            return container.rowStore.storage.map.links.reduce(0) {
                $0 + snapshot.recordCount(of: TableID(rawValue: $1.table))
            }
        }

        func verify(sourceLocation: SourceLocation = #_sourceLocation) throws {
            var findings: [String] = []
            try container.rowStore.log.verify({ findings.append("\($0)") }, progress: { _, _ in })
            #expect(findings.isEmpty, sourceLocation: sourceLocation)
        }
    }

    /// A save on its own thread.
    // Safe because only the thread uses the context until it is joined, and data that both threads use is under the
    // condition.
    private final class OtherSave: @unchecked Sendable {
        private let context: ModelContext
        private let condition = NSCondition()
        private var isWritten = false
        private var outcome: Result<Void, any Error>?

        init(_ context: ModelContext) { self.context = context }

        /// Begins the save, and waits until its transaction is complete.
        func runUntilWritten() {
            Thread { [self] in
                let outcome = Result { try context.core.save { _, _ in self.note { self.isWritten = true } } }
                note {
                    self.isWritten = true
                    self.outcome = outcome
                }
            }.start()
            wait { self.isWritten }
        }

        func join() throws {
            wait { self.outcome != nil }
            try outcome?.get()
        }

        private func note(_ change: () -> Void) {
            condition.withLock(change)
            condition.broadcast()
        }

        private func wait(until isDone: () -> Bool) {
            condition.lock()
            while !isDone() { condition.wait() }
            condition.unlock()
        }
    }

    @Test func aLinkThatIsQueuedIsNotMadeTwice() throws {
        let setting = try Setting(Playlist.self)
        let first = setting.context()
        first.insert(Playlist("list"))
        first.insert(Song("song"))
        try first.save()
        let second = setting.context()
        for context in [first, second] { try context.first(Playlist.self).songs = [try context.first(Song.self)] }
        try setting.save(first, then: second)
        #expect(setting.linkCount == 1)
        #expect(try setting.context().first(Playlist.self).songs.map(\.name) == ["song"])
        try setting.verify()
    }

    @Test func aDeletedObjectTakesQueuedLinksAlong() throws {
        let setting = try Setting(Document.self)
        let first = setting.context()
        first.insert(Document("document"))
        first.insert(Label("label"))
        try first.save()
        let second = setting.context()
        try first.first(Document.self).labels = [try first.first(Label.self)]
        second.delete(try second.first(Label.self))
        try setting.save(first, then: second)
        #expect(setting.linkCount == 0)
        #expect(try setting.context().first(Document.self).labels.isEmpty)
        try setting.verify()
    }

    @Test func aMemberThatJoinsStandsBehindQueuedOnes() throws {
        let setting = try Setting(Folder.self)
        let first = setting.context()
        first.insert(Folder("folder"))
        for number in 0..<2 { first.insert(Document("\(number)", number: number)) }
        try first.save()
        let second = setting.context()
        func join(_ number: Int, in context: ModelContext) throws {
            let document = try context.fetch(FetchDescriptor<Document>(predicate: #Predicate { $0.number == number }))
            try #require(document.first).folder = try context.first(Folder.self)
        }
        try join(1, in: first)
        try join(0, in: second)
        try setting.save(first, then: second)
        #expect(try setting.context().first(Folder.self).documents.map(\.number) == [1, 0])
        try setting.verify()
    }

    @Test func queuedMembersOfAnObjectWhosePlaceIsTakenAreCounted() throws {
        let setting = try Setting(Crew.self)
        let first = setting.context()
        first.insert(Crew("crew", sailors: [Sailor(), Sailor()]))
        try first.save()
        try first.first(Crew.self).sailors.append(Sailor())
        let second = setting.context()
        second.insert(Crew("crew", sailors: [Sailor()]))
        #expect(throws: SwiftDataError.modelValidationFailure) { try setting.save(first, then: second) }
        #expect(try setting.context().first(Crew.self).sailors.count == 3)
        try setting.verify()
    }
}
