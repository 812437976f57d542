import Faultline
import Testing

/// Long reads and batches end when their task is cancelled; short ones do not.
@Suite(.timeLimit(.minutes(5))) struct CancelledReadTests {
    private static let count = 9_000
    private let container: ModelContainer

    init() throws {
        container = try ModelContainer(
            for: Document.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        var number = 0
        try ModelContext(container).batchInsert(Document.self) { values in
            guard number < Self.count else { return false }
            values.set(\.title, to: "document \(number)")
            values.set(\.number, to: number)
            number += 1
            return true
        }
    }

    /// Runs code in a task that is cancelled already.
    private func cancelled<R: Sendable>(_ body: @escaping @Sendable (ModelContext) throws -> R) async throws -> R {
        let container = container
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try body(ModelContext(container))
        }
        task.cancel()
        return try await task.value
    }

    @Test func `long reads end`() async throws {
        await #expect(throws: CancellationError.self) {
            try await cancelled {
                try $0.fetchCount(FetchDescriptor<Document>(predicate: #Predicate { $0.number < 5 }))
            }
        }
        await #expect(throws: CancellationError.self) {
            try await cancelled {
                try $0.fetchCount(FetchDescriptor<Document>(predicate: #Predicate { $0.title.count + $0.number < 5 }))
            }
        }
        await #expect(throws: CancellationError.self) {
            try await cancelled {
                _ = try $0.fetch(FetchDescriptor<Document>(predicate: #Predicate { $0.number >= 0 }))
            }
        }
        await #expect(throws: CancellationError.self) {
            try await cancelled { context in
                var count = 0
                try context.enumerate(FetchDescriptor<Document>()) { _ in count += 1 }
            }
        }
        await #expect(throws: CancellationError.self) {
            try await cancelled { _ = try $0.fetchGroups(FetchDescriptor<Document>(), by: \.title, .count) }
        }
    }

    @Test func `a batch changes nothing`() async throws {
        await #expect(throws: CancellationError.self) {
            try await cancelled { _ = try $0.batchUpdate(Document.self, .set(\.number, to: -1)) }
        }
        await #expect(throws: CancellationError.self) {
            try await cancelled { _ = try $0.batchDelete(Document.self) }
        }
        await #expect(throws: CancellationError.self) {
            try await cancelled { context in
                _ = try context.batchInsert(Document.self) { values in
                    values.set(\.title, to: "endless")
                    return true
                }
            }
        }
        let context = ModelContext(container)
        #expect(try context.fetchCount(FetchDescriptor<Document>()) == Self.count)
        #expect(try context.fetchCount(FetchDescriptor<Document>(predicate: #Predicate { $0.number < 0 })) == 0)
        #expect(try context.fetchCount(FetchDescriptor<Document>(predicate: #Predicate { $0.title == "endless" })) == 0)
    }

    @Test func `code that cleans up may fetch and save`() async throws {
        let title = try await cancelled { context in
            var descriptor = FetchDescriptor<Document>(predicate: #Predicate { $0.number >= 40 })
            descriptor.fetchLimit = 1
            let found = try #require(try context.fetch(descriptor).first)
            found.title = "cleaned up"
            try context.save()
            return found.title
        }
        #expect(title == "cleaned up")
        let saved = FetchDescriptor<Document>(predicate: #Predicate { $0.title == "cleaned up" })
        #expect(try ModelContext(container).fetchCount(saved) == 1)
    }
}
