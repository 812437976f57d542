import Faultline
import FaultlineDisk
import FaultlineObjects
import Foundation
import Synchronization
import Testing

/// `ResultsObserver` and `HistoryObserver`.
@Suite(.timeLimit(.minutes(5))) @MainActor struct ObserverTests {
    private let container: ModelContainer
    private let context: ModelContext

    init() throws {
        container = try ModelContainer(for: Folder.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        context = ModelContext(container)
    }

    private func add(_ titles: String...) throws {
        let other = ModelContext(container)
        for (number, title) in titles.enumerated() { other.insert(Document(title, number: number)) }
        try other.save()
    }

    private func wait(until isReached: () -> Bool) async throws {
        while !isReached() { try await Task.sleep(for: .milliseconds(1)) }
    }

    private var byTitle: FetchDescriptor<Document> { FetchDescriptor(sortBy: [SortDescriptor(\.title)]) }

    @Test func `results follow saves of other contexts, and observers hear of it once`() async throws {
        try add("b")
        let observer = try ResultsObserver(fetchDescriptor: byTitle, modelContext: context)
        #expect(observer.results.map(\.title) == ["b"] && observer.sections == nil)
        let heard = Guarded(0)
        withObservationTracking {
            _ = observer.results.count
        } onChange: {
            heard.withLock { $0 += 1 }
        }
        try add("a", "c")
        try await wait { observer.results.count == 3 }
        #expect(observer.results.map(\.title) == ["a", "b", "c"] && heard.withLock { $0 } == 1)
        let other = ModelContext(container)
        try #require(try other.fetch(byTitle).first).title = "z"
        try other.save()
        try await wait { observer.results.last?.title == "z" }
        #expect(observer.results.map(\.title) == ["b", "c", "z"] && observer.error == nil)
        #expect(observer.element(at: [1]).title == "c" && observer.element(at: [0, 2]).title == "z")
        #expect(observer.indexPath(for: observer.results[1]) == [0, 1])
    }

    @Test func `results follow unsaved changes of their own context`() async throws {
        try add("b")
        let observer = try ResultsObserver(fetchDescriptor: byTitle, modelContext: context)
        let new = Document("a")
        context.insert(new)
        try await wait { observer.results.count == 2 }
        #expect(observer.results.first === new)
        context.delete(observer.results[1])
        try await wait { observer.results.count == 1 }
        try context.save()
        #expect(observer.results.map(\.title) == ["a"])
    }

    @Test func `sections are neighbours with the same title`() async throws {
        try add("b", "a", "b", "c")
        let observer = try ResultsObserver(fetchDescriptor: byTitle, sectionBy: \.title, modelContext: context)
        #expect(observer.sections?.map(\.title) == ["a", "b", "c"])
        #expect(observer.sections?.map(\.count) == [1, 2, 1])
        #expect(observer.element(at: [1, 1]).title == "b")
        #expect(observer.indexPath(for: observer.results[3]) == [2, 0])
        try add("a")
        try await wait { observer.sections?.first?.count == 2 }
        observer.filterBy = #Predicate { $0.title != "b" }
        #expect(observer.sections?.map(\.title) == ["a", "c"])
        observer.sortBy = [SortDescriptor(\.title, order: .reverse)]
        #expect(observer.sections?.map(\.title) == ["c", "a"])
    }

    @Test func `an observer that is gone leaves nothing behind`() async throws {
        weak var observer: ResultsObserver<Document, Never>?
        do {
            let made = try ResultsObserver(fetchDescriptor: byTitle, modelContainer: container)
            observer = made
        }
        #expect(observer == nil)
        try add("a")
        context.insert(Document("b"))
        try context.save()
    }

    /// An actor that owns its observers.
    private actor Owner {
        private var results: ResultsObserver<Document, Never>?
        private var history: HistoryObserver?

        func observe(_ container: ModelContainer) throws {
            results = try ResultsObserver(
                fetchDescriptor: FetchDescriptor(), modelContext: ModelContext(container))
            history = try HistoryObserver(modelContainer: container)
        }

        var counts: [Int] { [results?.results.count ?? 0, history?.eventCounter ?? 0] }
    }

    @Test func `an actor that owns its observers is freed`() async throws {
        weak var owner: Owner?
        do {
            let made = Owner()
            owner = made
            try await made.observe(container)
            try add("a", "b")
            while await made.counts != [2, 1] { try await Task.sleep(for: .milliseconds(1)) }
        }
        try add("c")
        try await wait { owner == nil }
    }

    @Test func `the history observer counts saves of its classes and authors`() async throws {
        let all = try HistoryObserver(modelContainer: container)
        let labels = try HistoryObserver(observedModels: [Label.self], modelContainer: container)
        let authors = try HistoryObserver(authors: ["me"], modelContainer: container)
        let heard = Guarded(0)
        withObservationTracking {
            _ = labels.eventCounter
        } onChange: {
            heard.withLock { $0 += 1 }
        }
        try add("a")
        try await wait { all.eventCounter == 1 }
        context.author = "me"
        context.insert(Label("b"))
        try context.save()
        try await wait { all.eventCounter == 2 && labels.eventCounter == 1 && authors.eventCounter == 1 }
        #expect(heard.withLock { $0 } == 1)
        context.author = "other"
        context.insert(Document("c"))
        try context.save()
        try await wait { all.eventCounter == 3 }
        #expect(labels.eventCounter == 1 && authors.eventCounter == 1)
    }

    @Test func `the history observer goes on from a token, and reports one that has expired`() async throws {
        try add("a")
        let token = try #require(try ModelContext(container).historyToken())
        try add("b")
        try add("c")
        let store = try #require(token.tokenValue?.keys.first)
        let observer = try HistoryObserver(historyTokens: [store: token], modelContainer: container)
        try await wait { observer.eventCounter == 2 }
        try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        let late = try HistoryObserver(historyTokens: [store: token], modelContainer: container)
        try await wait { late.eventCounter == 1 }
    }

    @Test func `code of no actor gets a results observer that it updates itself`() async throws {
        try add("a")
        let container = container
        let titles = try await Task.detached {
            let context = ModelContext(container)
            let observer = try ResultsObserver(
                fetchDescriptor: FetchDescriptor<Document>(), modelContext: context, isolation: nil)
            let other = ModelContext(container)
            other.insert(Document("b"))
            try other.save()
            observer.update()
            return observer.results.map(\.title)
        }.value
        #expect(titles == ["a", "b"])
    }
}
