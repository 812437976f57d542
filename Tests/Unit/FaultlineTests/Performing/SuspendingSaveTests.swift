import Faultline
import FaultlineDisk
import FaultlineObjects
import Foundation
import Synchronization
import Testing

/// `try await context.save()` in `perform`.
@Suite(.timeLimit(.minutes(5))) struct SuspendingSaveTests {
    private func names(_ container: ModelContainer) throws -> [String] {
        try ModelContext(container).fetch(FetchDescriptor<Folder>(sortBy: [SortDescriptor(\.name)])).map(\.name)
    }

    @Test func `64 clients share synchronizations with two threads`() async throws {
        let store = try PerformingStore(threads: 2)
        let container = store.container
        try await container.perform { context in
            context.insert(Folder("first"))
            try await context.save()
        }
        let before = store.disk.commitCount
        store.disk.close()
        func save(_ number: Int) -> Task<String, any Error> {
            Task {
                try await container.perform { context in
                    let folder = Folder("\(number)")
                    context.insert(folder)
                    try await context.save()
                    return folder.name
                }
            }
        }
        var clients = [save(0)]
        try await store.wait { _ in store.disk.commitCount == before + 1 }
        clients += (1..<64).map(save)
        // All have made their records, and no thread waits for the disk but the one that synchronizes.
        try await store.wait { $0.underWay == 64 && $0.threads == 2 && $0.idleThreads == 2 }
        store.disk.open()
        for (number, client) in clients.enumerated() { #expect(try await client.value == "\(number)") }
        // The first save was on its way when the others came.
        #expect(store.disk.commitCount - before == 2)
        #expect(try names(container).count == 65)
    }

    @Test func `a save can be followed by others in the same call`() async throws {
        let store = try PerformingStore(threads: 1)
        let names = try await store.container.perform { context in
            let folder = Folder("a")
            context.insert(folder)
            try await context.save()
            #expect(!context.hasChanges)
            folder.name = "b"
            context.insert(Folder("c"))
            try await context.save()
            folder.documents = [Document("d")]
            try await context.save()
            return try context.fetch(FetchDescriptor<Folder>(sortBy: [SortDescriptor(\.name)])).map(\.name)
        }
        #expect(names == ["b", "c"])
        #expect(try self.names(store.container) == ["b", "c"])
        #expect(try ModelContext(store.container).fetch(FetchDescriptor<Document>()).first?.folder?.name == "b")
    }

    @Test func `a refused save leaves its changes`() async throws {
        let store = try PerformingStore(threads: 1)
        try await store.container.perform { context in
            context.insert(Refusable("a"))
            try await context.save()
            let other = Refusable("b")
            context.insert(other)
            other.isRefused = true
            await #expect(throws: SwiftDataError.self) { try await context.save() }
            #expect(context.hasChanges && context.insertedModelsArray.count == 1)
            other.isRefused = false
            try await context.save()
            #expect(other.savedCount == 1)
        }
        #expect(try ModelContext(store.container).fetchCount(FetchDescriptor<Refusable>()) == 2)
    }

    @Test func `a save whose synchronization fails reports it, and its changes stay`() async throws {
        let store = try PerformingStore(threads: 2)
        store.disk.fail()
        let container = store.container
        try await container.perform { context in
            context.insert(Folder("a"))
            let error = await #expect(throws: StorageError.self) { try await context.save() }
            #expect(error?.code == .outcomeUnknown)
            #expect(context.hasChanges && context.insertedModelsArray.count == 1)
            let later = await #expect(throws: StorageError.self) { try await context.save() }
            #expect(later?.code == .writingStopped)
        }
        #expect(store.counts.underWay == 0)
    }

    @Test func `observers hear of a suspended save`() async throws {
        let store = try PerformingStore(threads: 1)
        try await store.container.perform { context in
            let told = Guarded<[String]>([])
            let center = NotificationCenter.default
            let observers = [ModelContext.willSave, ModelContext.didSave].map { name in
                center.addObserver(forName: name, object: context, queue: nil) { note in
                    told.withLock { $0.append(note.name.rawValue) }
                }
            }
            context.insert(Folder("a"))
            try await context.save()
            for observer in observers { center.removeObserver(observer) }
            #expect(told.withLock { $0 } == [ModelContext.willSave.rawValue, ModelContext.didSave.rawValue])
        }
    }

    @Test func `policies settle conflicts of a suspended save`() async throws {
        let store = try PerformingStore(threads: 2)
        let container = store.container
        try await container.perform { context in
            let folder = Folder("a")
            context.insert(folder)
            try await context.save()
            context.mergePolicy = .error
            folder.name = "b"
            try await container.perform { other in
                try other.fetch(FetchDescriptor<Folder>())[0].name = "c"
                try other.save()
            }
            await #expect(throws: MergeConflictError.self) { try await context.save() }
            context.mergePolicy = .mergeByPropertyStoreTrump
            try await context.save()
            #expect(folder.name == "c")
        }
    }

    @Test func `without synchronizations a save does not suspend`() async throws {
        let store = try PerformingStore(threads: 1, durability: .async)
        try await store.container.perform { context in
            context.insert(Folder("a"))
            try await context.save()
        }
        #expect(try names(store.container) == ["a"])
    }
}

/// Counts its saves, and can refuse one.
@Model final class Refusable: ObjectLifecycle {
    var name: String
    @Transient var isRefused = false
    @Transient var savedCount = 0

    init(_ name: String) { self.name = name }

    func validateForInsert() throws { if isRefused { throw SwiftDataError.modelValidationFailure } }
    func didSave() { savedCount += 1 }
}
