import Faultline
import FaultlineDisk
import FaultlineTestSupport
import Synchronization
import Testing

@Model private final class BackedUpNote {
    var number: Int
    @Attribute(.externalStorage) var scan: Data
    init(number: Int) {
        self.number = number
        scan = Self.scan(number)
    }

    static func scan(_ number: Int) -> Data { Data(repeating: UInt8(number % 251), count: 20_000) }
}

/// The saves of the writers.
private final class Saves: Sendable {
    private let state = Guarded((count: 0, isOver: false))
    var count: Int { state.withLock { $0.count } }
    var isOver: Bool { state.withLock { $0.isOver } }
    func add() { state.withLock { $0.count += 1 } }
    func end() { state.withLock { $0.isOver = true } }
}

struct ContainerBackupTests {
    private let folder = TemporaryDirectory()

    private func url(_ name: String) -> URL { URL(filePath: folder.path + "/" + name) }

    private func container(_ name: String) throws -> ModelContainer {
        try ModelContainer(for: BackedUpNote.self, configurations: ModelConfiguration(url: url(name)))
    }

    @Test func `backups beside eight writers have all saves that were acknowledged before`() async throws {
        let store = try container("store")
        let saves = Saves()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                group.addTask {
                    var number = writer
                    while !saves.isOver {
                        let saved = number
                        try await store.perform { context in
                            context.insert(BackedUpNote(number: saved))
                            if saved % 40 == writer, let old = try context.fetch(FetchDescriptor<BackedUpNote>()).first
                            {
                                old.scan = BackedUpNote.scan(old.number)
                            }
                            try context.save()
                        }
                        saves.add()
                        number += 8
                    }
                }
            }
            var options = BackupOptions()
            options.isIncremental = true
            options.keeps = 3
            for round in 1...8 {
                let before = saves.count
                let report = try await store.backup(to: url("backups"), options: options)
                #expect(report.backup.number == round)
                let restored = try await ModelContainer.restore(from: url("backups"), to: url("restored \(round)"))
                #expect(restored.last == report.backup.last)
                let copy = try container("restored \(round)")
                let notes = try ModelContext(copy).fetch(FetchDescriptor<BackedUpNote>())
                #expect(notes.count >= before, "round \(round)")
                #expect(notes.allSatisfy { $0.scan == BackedUpNote.scan($0.number) })
                // The saves of each writer are there without a gap.
                for writer in 0..<8 {
                    let numbers = notes.map(\.number).filter { $0 % 8 == writer }.sorted()
                    #expect(numbers == numbers.indices.map { $0 * 8 + writer }, "round \(round), writer \(writer)")
                }
                try copy.close()
            }
            saves.end()
            try await group.waitForAll()
        }
        #expect(try ModelContainer.backups(in: url("backups")).map(\.number) == [6, 7, 8])
        try store.close()
    }

    @Test func `a history token of a transaction that a restored store lacks is expired`() async throws {
        let store = try container("store")
        let context = ModelContext(store)
        context.insert(BackedUpNote(number: 1))
        try context.save()
        _ = try await store.backup(to: url("backups"))
        let kept = try #require(try context.historyToken())
        context.insert(BackedUpNote(number: 2))
        try context.save()
        let lost = try #require(try context.historyToken())
        try store.close()

        _ = try await ModelContainer.restore(from: url("backups"), to: url("restored"))
        let restored = try container("restored")
        let other = ModelContext(restored)
        other.insert(BackedUpNote(number: 3))
        try other.save()
        func changes(after token: DefaultHistoryToken) throws -> Int {
            var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
            descriptor.predicate = #Predicate { $0.token > token }
            return try other.fetchHistory(descriptor).count
        }
        #expect(try changes(after: kept) == 1)
        #expect(throws: SwiftDataError.historyTokenExpired) { try changes(after: lost) }
        try restored.close()
    }

    @Test func `a store in memory has no backup`() async throws {
        let store = try ModelContainer(
            for: BackedUpNote.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        await #expect(throws: BackupError.self) { try await store.backup(to: url("backups")) }
        #expect(throws: BackupError.self) { try ModelContainer.backups(in: url("backups")) }
    }
}
