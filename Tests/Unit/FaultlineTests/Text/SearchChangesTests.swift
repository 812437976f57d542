import Faultline
import FaultlineObjects
import FaultlineTestSupport
import Foundation
import Testing

/// `container.changes(of:)` with a search: the objects that join its result, change in it and leave it.
@Suite(.timeLimit(.minutes(5))) struct SearchChangesTests {
    private func container() throws -> ModelContainer {
        try ModelContainer(for: Posters.Poster.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }

    private func titles(_ batch: ChangeBatch) -> [String] { batch.values.compactMap { $0["title"]?.string } }

    @Test func `objects whose words begin or cease to match join and leave`() async throws {
        let container = try container()
        let context = ModelContext(container)
        let posters = ["red boat", "blue boat", "red car", "winter"].map { Posters.Poster($0, text: "") }
        posters.forEach(context.insert)
        try context.save()
        var changes = container.changes(
            of: SearchDescriptor<Posters.Poster>("boat* NOT blue"), including: []
        ).makeAsyncIterator()
        let first = try #require(try await changes.next())
        #expect(titles(first) == ["red boat"] && first.isComplete)

        posters[1].title = "green boats"  // joins
        posters[0].title = "red boat, sold"  // stays
        posters[2].title = "red cars"  // is not in the result
        context.insert(Posters.Poster("boathouse", text: ""))
        try context.save()
        let second = try #require(try await changes.next())
        #expect(titles(second) == ["green boats", "boathouse", "red boat, sold"])
        #expect(second.inserted.first == posters[1].persistentModelID && second.deleted.isEmpty)
        #expect(second.updated == [posters[0].persistentModelID])

        posters[0].title = "blue boat"  // leaves by a word
        context.delete(posters[1])
        try context.save()
        let third = try #require(try await changes.next())
        #expect(third.deleted == [posters[0].persistentModelID, posters[1].persistentModelID])
        #expect(third.inserted.isEmpty && third.updated.isEmpty)
    }

    @Test func `a predicate bounds the result of a search`() async throws {
        let container = try container()
        let context = ModelContext(container)
        let posters = ["sea one", "sea two", "sea three"].map { Posters.Poster($0, text: "") }
        posters.forEach(context.insert)
        try context.save()
        var search = SearchDescriptor<Posters.Poster>("sea")
        search.predicate = #Predicate { $0.title != "sea two" }
        var changes = container.changes(of: search, including: []).makeAsyncIterator()
        #expect(try titles(#require(try await changes.next())) == ["sea one", "sea three"])
        posters[0].title = "sea two"
        posters[1].title = "sea four"
        try context.save()
        let batch = try #require(try await changes.next())
        #expect(titles(batch) == ["sea four"] && batch.deleted == [posters[0].persistentModelID])
    }

    /// Batches after each save, applied to a set, give the objects that a search finds.
    @Test(arguments: Seed.list(12, unoptimized: 6)) func `the batches lead from each result to the next`(
        seed: Seed
    ) async throws {
        var random = seed
        let container = try container()
        let context = ModelContext(container)
        let words = ["sea", "seal", "boat", "boats", "red", "blue", "winter"]
        func text() -> String { (0..<1 + random.below(4)).map { _ in random.pick(words) }.joined(separator: " ") }
        let query = random.pick(["sea*", "boat OR red", "\"red boat\"", "NOT blue", "sea NOT (red OR winter)"])
        var posters: [Posters.Poster] = []
        func change() throws {
            for _ in 0..<1 + random.below(8) {
                switch posters.isEmpty ? 0 : random.below(4) {
                case 0, 1:
                    posters.append(Posters.Poster(text(), text: ""))
                    context.insert(posters[posters.count - 1])
                case 2: random.pick(posters).title = text()
                default: context.delete(posters.remove(at: random.below(posters.count)))
                }
            }
            try context.save()
        }
        try change()
        var changes = container.changes(
            of: SearchDescriptor<Posters.Poster>(query), batchSize: random.pick([1, 3, 100])
        ).makeAsyncIterator()
        var members: Set<PersistentIdentifier> = []
        var expected: Set<PersistentIdentifier> = []
        for _ in 0..<30 {
            let found = try context.search(Posters.Poster.self, query).map(\.object.persistentModelID)
            // A stream has no batch for a result that is as it was.
            if Set(found) != expected || members.isEmpty && !found.isEmpty {
                expected = Set(found)
                while members != expected, let batch = try await changes.next() {
                    members.subtract(batch.deleted)
                    members.formUnion(batch.inserted)
                    #expect(members.isSuperset(of: batch.updated), "\(seed.replayLine)")
                }
            }
            try change()
        }
    }

    @Test func `a text that is no query ends the stream with its error`() async throws {
        let container = try container()
        var changes = container.changes(of: SearchDescriptor<Posters.Poster>("(sea")).makeAsyncIterator()
        await #expect(throws: TextQueryError.self) { _ = try await changes.next() }
        let next = try await changes.next()
        #expect(next == nil)
    }
}
