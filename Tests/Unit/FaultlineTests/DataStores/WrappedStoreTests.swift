import Faultline
import FaultlineTestSupport
import Foundation
import Testing

/// Stores that are made of others, snapshots of a type of the user's, and random lives beside an ordinary store.
@Suite(.timeLimit(.minutes(5))) struct WrappedStoreTests {
    @Test func `a store of this library serves a data store of the user's`() throws {
        let directory = TemporaryDirectory()
        let url = URL(filePath: directory.path).appending(path: "inner", directoryHint: .isDirectory)
        var identifier: PersistentIdentifier?
        do {
            let container = try ModelContainer(for: Voyage.self, configurations: WrappedConfiguration(url: url))
            let context = ModelContext(container)
            let voyage = Voyage("a", title: "first")
            voyage.legs = [Leg("one"), Leg("two")]
            voyage.tags = [Pennant("x")]
            context.insert(voyage)
            try context.save()
            voyage.title = "second"
            voyage.legs.removeLast()
            context.insert(Voyage("b"))
            try context.save()
            identifier = voyage.persistentModelID
            #expect(try context.fetchCount(FetchDescriptor<Voyage>()) == 2)
        }
        let container = try ModelContainer(for: Voyage.self, configurations: ModelConfiguration(url: url))
        let context = ModelContext(container)
        let known = try #require(identifier)
        let stored: Voyage = try #require(try context.existing(known, as: Voyage.self))
        #expect(stored.title == "second" && stored.legs.map(\.place) == ["one"] && stored.tags.map(\.name) == ["x"])
        #expect(try context.fetchCount(FetchDescriptor<Voyage>()) == 2)
        #expect(try context.fetchCount(FetchDescriptor<Leg>()) == 2)
    }

    @Test func `a store has snapshots of its own type`() throws {
        let configuration = PennantConfiguration(identifier: "tags \(UUID().uuidString)")
        let container = try ModelContainer(for: Pennant.self, configurations: configuration)
        let context = ModelContext(container)
        let tag = Pennant("red")
        context.insert(tag)
        context.insert(Pennant("green"))
        try context.save()
        tag.name = "blue"
        try context.save()
        let descriptor = FetchDescriptor<Pennant>(predicate: #Predicate { $0.name != "green" })
        #expect(try ModelContext(container).fetch(descriptor).map(\.name) == ["blue"])
        #expect(tag.persistentModelID.primaryKeyText == "tag red")
        context.delete(tag)
        try context.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Pennant>()).map(\.name) == ["green"])
    }

    /// Random changes in two contexts of a container with a file of JSON and in two of one with an ordinary store: after
    /// each save, and after the file was opened anew, both show the same.
    @Test(arguments: Seed.list(12)) func `a life is the same with a data store and without`(seed: Seed) throws {
        let directory = TemporaryDirectory()
        let file = URL(filePath: directory.path).appending(path: "life\(seed.origin)-\(directory.path.suffix(6)).json")
        func linked() throws -> ModelContainer {
            try ModelContainer(for: Voyage.self, configurations: JSONStoreConfiguration(name: "life", fileURL: file))
        }
        let plain = try ModelContainer(
            for: Voyage.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        var random = seed
        var containers = [try linked(), plain]
        var contexts = containers.map { [ModelContext($0), ModelContext($0)] }
        for _ in 0..<60 {
            let (which, operation, pick, other) = (
                Int(random.next() % 2), random.next() % 10, random.next(), random.next()
            )
            for side in 0..<2 {
                let context = contexts[side][which]
                try change(context, operation, pick, other)
            }
            if operation == 9 {
                // A save may be refused because another one has deleted an object: on both sides.
                let errors = contexts.map { sides in
                    do { try sides[which].save() } catch { return "\(error)" }
                    return "saved"
                }
                #expect(errors[0] == errors[1], "\(seed.replayLine)")
                if errors[0] != "saved" { for side in 0..<2 { contexts[side][which].rollback() } }
                #expect(try picture(contexts[0][which]) == picture(contexts[1][which]), "\(seed.replayLine)")
            } else if operation == 8 {
                for side in 0..<2 { contexts[side][which].rollback() }
            }
        }
        for side in 0..<2 { for context in contexts[side] { context.rollback() } }
        containers[0] = try linked()
        contexts = containers.map { [ModelContext($0)] }
        #expect(try picture(contexts[0][0]) == picture(contexts[1][0]), "\(seed.replayLine)")
    }

    private func change(_ context: ModelContext, _ operation: UInt64, _ pick: UInt64, _ other: UInt64) throws {
        let voyages = try context.fetch(FetchDescriptor<Voyage>(sortBy: [SortDescriptor(\.code)]))
        let tags = try context.fetch(FetchDescriptor<Pennant>(sortBy: [SortDescriptor(\.name)]))
        func voyage(_ number: UInt64) -> Voyage? {
            voyages.isEmpty ? nil : voyages[Int(number % UInt64(voyages.count))]
        }
        switch operation {
        case 0: context.insert(Voyage("v\(pick % 12)", title: "\(other % 5)"))
        case 1: context.insert(Pennant("t\(pick)"))
        case 2: voyage(pick)?.legs.append(Leg("leg \(other)"))
        case 3: voyage(pick)?.title = "title \(other % 3)"
        case 4: voyage(pick)?.legs.first?.voyage = voyage(other)
        case 5:
            guard !tags.isEmpty, let voyage = voyage(pick) else { return }
            let tag = tags[Int(other % UInt64(tags.count))]
            if voyage.tags.contains(tag) { voyage.tags.removeAll { $0 === tag } } else { voyage.tags.append(tag) }
        case 6: if let voyage = voyage(pick) { context.delete(voyage) }
        case 7: if !tags.isEmpty { context.delete(tags[Int(pick % UInt64(tags.count))]) }
        default: break
        }
    }

    /// All values of a context's store, in an order of their own.
    private func picture(_ context: ModelContext) throws -> [String] {
        let voyages = try context.fetch(FetchDescriptor<Voyage>(sortBy: [SortDescriptor(\.code)])).map { voyage in
            "\(voyage.code) \(voyage.title) \(voyage.legs.map(\.place).sorted()) \(voyage.tags.map(\.name).sorted())"
        }
        let legs = try context.fetch(FetchDescriptor<Leg>()).map { "\($0.place) \($0.voyage?.code ?? "none")" }
        let tags = try context.fetch(FetchDescriptor<Pennant>()).map { tag in
            "\(tag.name) \(tag.voyages.map(\.code).sorted())"
        }
        return voyages + legs.sorted() + tags.sorted()
    }
}
