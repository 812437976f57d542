import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineObjects
import FaultlineStore
import Foundation
import Synchronization
import Testing

/// Contexts that serve several calls of `perform` keep nothing of an earlier one.
@Suite(.timeLimit(.minutes(5))) struct ContextRenewalTests {
    private func identity(_ context: ModelContext) -> ObjectIdentifier { ObjectIdentifier(context.core) }

    /// Keeps an object beyond its call, as no code should.
    // Safe because one thread at a time uses it.
    private final class Escape: @unchecked Sendable {
        var object: Folder?
        var context: ModelContext?
    }

    @Test func `calls use one context after the other, and its memory`() async throws {
        let store = try PerformingStore(threads: 1)
        let first = try await store.container.perform { context in
            for number in 0..<50 { context.insert(Folder("\(number)")) }
            try context.save()
            _ = try context.fetch(FetchDescriptor<Folder>()).map(\.name)
            return identity(context)
        }
        let budget = store.container.rowStore.log.budget
        let memory = budget.used(for: .rows)
        for _ in 0..<100 {
            let next = try await store.container.perform { context in
                #expect(context.core.livingObjectCount == 0)
                _ = try context.fetch(FetchDescriptor<Folder>()).map(\.name)
                return identity(context)
            }
            #expect(next == first)
        }
        #expect(budget.used(for: .rows) == memory)
        #expect(store.container.performing.contexts.idleCount == 1)
    }

    @Test func `a call sees nothing of the one before`() async throws {
        let store = try PerformingStore(threads: 1)
        let told = Guarded(0)
        let first = try await store.container.perform { context in
            context.insert(Folder("stored"))
            context.author = "first"
            context.errorHandler = { _ in told.withLock { $0 += 1 } }
            context.mergePolicy = .rollback
            context.autosaveEnabled = true
            try context.save()
            try context.fetch(FetchDescriptor<Folder>())[0].name = "unsaved"
            context.insert(Folder("unsaved"))
            _ = try context.fetch(FetchDescriptor<Folder>()).map(\.name)
            return identity(context)
        }
        try await store.container.perform { context in
            #expect(identity(context) == first)
            #expect(!context.hasChanges && context.insertedModelsArray.isEmpty && context.changedModelsArray.isEmpty)
            #expect(context.author == nil && context.errorHandler == nil && !context.autosaveEnabled)
            #expect(context.mergePolicy == .mergeByPropertyObjectTrump)
            #expect(context.counters.rowsRead == 0 && context.counters.faultsFired == 0)
            #expect(!context.isPinned && context.core.observedCount == 0)
            let folders = try context.fetch(FetchDescriptor<Folder>())
            #expect(folders.map(\.name) == ["stored"])
            context.delete(folders[0])
        }
        try await store.container.perform { context in
            #expect(context.deletedModelsArray.isEmpty)
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<Folder>()) == 1)
        }
    }

    @Test func `a call begins at the newest state`() async throws {
        let store = try PerformingStore(threads: 1)
        let identifier = try await store.container.perform { context in
            let folder = Folder("old")
            context.insert(folder)
            try context.save()
            return folder.persistentModelID
        }
        let other = ModelContext(store.container)
        try other.fetch(FetchDescriptor<Folder>())[0].name = "new"
        try other.save()
        try await store.container.perform { context in
            // An identifier alone moves no context on.
            #expect((context.model(for: identifier) as? Folder)?.name == "new")
        }
    }

    @Test func `an idle context keeps no state of the store`() async throws {
        let store = try PerformingStore(threads: 1)
        try await store.container.perform { context in _ = try context.fetch(FetchDescriptor<Folder>()) }
        let snapshot = WeakReference(store.container.rowStore.log.snapshot())
        try await store.container.perform { context in
            context.insert(Folder("a"))
            try context.save()
        }
        #expect(snapshot.object == nil)
    }

    // Safe because a weak reference may be read on any thread.
    private struct WeakReference: @unchecked Sendable {
        weak var object: AnyObject?
        init(_ object: AnyObject) { self.object = object }
    }

    @Test func `a context of an escaped object serves no other call`() async throws {
        let store = try PerformingStore(threads: 1)
        let escape = Escape()
        let first = try await store.container.perform { context in
            let folder = Folder("a")
            context.insert(folder)
            try context.save()
            escape.object = folder
            return identity(context)
        }
        let second = try await store.container.perform { context in
            escape.context = context
            return identity(context)
        }
        #expect(second != first)
        #expect(escape.object?.name == "a")
        let third = try await store.container.perform { context in identity(context) }
        #expect(third != second && third != first)
        #expect(try escape.context?.fetchCount(FetchDescriptor<Folder>()) == 1)
    }

    @Test func `a context that was pinned, or that failed, serves no other call with that`() async throws {
        let store = try PerformingStore(threads: 1)
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await store.container.perform { context in
                try context.pin()
                context.insert(Folder("a"))
                throw Stop()
            }
        }
        try await store.container.perform { context in
            #expect(!context.isPinned && !context.hasChanges)
            context.insert(Folder("b"))
            try context.save()
        }
        #expect(store.container.pins.isEmpty)
    }

    @Test func `a context has no undo manager of an earlier call`() async throws {
        let store = try PerformingStore(threads: 1)
        let first = try await store.container.perform { context in
            context.undoManager = UndoManager()
            let folder = Folder("a")
            context.insert(folder)
            try context.save()
            folder.name = "b"
            #expect(context.undoManager?.undoCount == 2)
            return identity(context)
        }
        try await store.container.perform { context in
            #expect(identity(context) == first && context.undoManager == nil && !context.hasChanges)
            let names = try context.fetch(FetchDescriptor<Folder>()).map(\.name)
            #expect(names == ["a"])
        }
    }

    /// The properties of a context, each with the treatment by `renew`: a new one must be decided about.
    @Test func `each property of a context is renewed or kept on purpose`() throws {
        let store = try PerformingStore(threads: 1)
        let kept: Set<String> = [
            "store", "lock", "hold", "homes", "rows", "recordBuffer", "keyWriter", "tally", "state", "link",
        ]
        let renewed: Set<String> = [
            "reports", "pending", "memberArrays", "observations", "rules", "saving", "stage", "owner", "errors",
            "conflicts", "history", "undo",
        ]
        let context = ModelContext(store.container)
        let labels = Set(Mirror(reflecting: context.core).children.compactMap(\.label))
        #expect(
            labels.subtracting(["rows", "recordBuffer"]) == kept.union(renewed).subtracting(["rows", "recordBuffer"]))
    }
}
