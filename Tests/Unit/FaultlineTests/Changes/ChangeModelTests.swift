import Faultline
import FaultlineDisk
import FaultlineObjects
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// Streams beside many writers: at each token the initial result with all reported changes is that of a fetch.
@Suite(.timeLimit(.minutes(5))) struct ChangeModelTests {
    /// The results that fetches gave at each state, by the token of the state.
    private final class Log: Sendable {
        private let states = Guarded<[DefaultHistoryToken: [PersistentIdentifier: Int]]>([:])

        /// Runs a save, and notes the result of the query after it; no other save comes between.
        func save(_ context: ModelContext, _ descriptor: FetchDescriptor<Document>, _ change: () throws -> Void) throws
        {
            try states.withLock { states in
                try change()
                try context.save()
                // The context shows the state of its save, or a newer one; both are the newest here.
                let found = try context.fetch(descriptor)
                guard let token = try context.historyToken() else { return }
                states[token] = Dictionary(uniqueKeysWithValues: found.map { ($0.persistentModelID, $0.number) })
            }
        }

        func state(_ token: DefaultHistoryToken) -> [PersistentIdentifier: Int]? { states.withLock { $0[token] } }
    }

    enum Query: CaseIterable {
        case all, own, related, collection

        var predicate: Predicate<Document>? {
            switch self {
            case .all: return nil
            case .own: return #Predicate { $0.number >= 5 && $0.title != "c" }
            case .related: return #Predicate { $0.folder?.name == "a" }
            case .collection: return #Predicate { !$0.labels.isEmpty }
            }
        }
    }

    /// Makes random saves.
    private static func write(_ container: ModelContainer, _ query: Query, _ log: Log, _ seed: UInt64) async throws {
        var random = Seed(seed)
        let descriptor = FetchDescriptor<Document>(predicate: query.predicate)
        for _ in 0..<60 {
            let draws = (0..<40).map { _ in Int.random(in: 0..<1_000, using: &random) }
            try await container.perform { context in
                try log.save(context, descriptor) { try change(context, draws) }
            }
        }
    }

    private static func change(_ context: ModelContext, _ draws: [Int]) throws {
        var draws = draws[...]
        func draw(_ count: Int) -> Int { (draws.popFirst() ?? 0) % max(count, 1) }
        func name() -> String { ["a", "b", "c"][draw(3)] }
        let order = [SortDescriptor(\Document.number)]
        var documents = try context.fetch(FetchDescriptor<Document>(sortBy: order))
        let folders = try context.fetch(FetchDescriptor<Folder>())
        for _ in 0...draw(4) {
            switch documents.isEmpty ? 0 : draw(9) {
            case 0, 1:
                let document = Document(name(), number: draw(10))
                context.insert(document)
                documents.append(document)
            case 2: context.delete(documents.remove(at: draw(documents.count)))
            case 3, 4: documents[draw(documents.count)].number = draw(10)
            case 5: documents[draw(documents.count)].title = name()
            case 6:
                let folder = folders.isEmpty || draw(4) == 0 ? Folder(name()) : folders[draw(folders.count)]
                documents[draw(documents.count)].folder = folder
            case 7:
                if !folders.isEmpty { folders[draw(folders.count)].name = name() }
            default:
                let document = documents[draw(documents.count)]
                if document.labels.isEmpty { document.labels.append(Label(name())) } else { document.labels = [] }
            }
        }
        if draw(12) == 0, let folder = folders.first { context.delete(folder) }
    }

    /// Follows the result until the writers have ended, and checks it at each token.
    private static func follow(
        _ container: ModelContainer, _ query: Query, _ log: Log, _ seed: UInt64, until isOver: () -> Bool
    ) async throws -> (tokens: Int, restarts: Int) {
        var random = Seed(seed)
        var result: [PersistentIdentifier: Int] = [:]
        var last: DefaultHistoryToken?
        var counts = (tokens: 0, restarts: 0)
        while true {
            // After a token it is not known which objects were in the result.
            var isExact = last == nil
            if last == nil { result = [:] }
            let changes = container.changes(
                of: Document.self, matching: query.predicate, after: last,
                batchSize: Int.random(in: 1...9, using: &random), including: [])
            do {
                for try await batch in changes {
                    let known = Set(result.keys)
                    if isExact || last == nil {
                        #expect(known.isDisjoint(with: batch.inserted))
                        #expect(known.isSuperset(of: batch.updated) && known.isSuperset(of: batch.deleted))
                    }
                    #expect(batch.values.map(\.id) == batch.inserted + batch.updated)
                    for copy in batch.values { result[copy.id] = copy["number"]?.int }
                    for identifier in batch.deleted { result[identifier] = nil }
                    guard let token = batch.token else { continue }
                    isExact = true
                    last = token
                    counts.tokens += 1
                    // The stream may show a save before its writer has noted it.
                    while log.state(token) == nil, token.id.values.contains(where: { $0 > 0 }) { await Task.yield() }
                    #expect(result == log.state(token) ?? [:], "\(query) at \(token.id)")
                    if isOver() { return counts }
                    if Int.random(in: 0..<6, using: &random) == 0 { break }
                    if Int.random(in: 0..<4, using: &random) == 0 {
                        for _ in 0..<Int.random(in: 1..<200, using: &random) { await Task.yield() }
                    }
                }
            } catch SwiftDataError.historyTokenExpired where query == .related || query == .collection {
                last = nil
            }
            counts.restarts += 1
        }
    }

    @Test(arguments: Query.allCases, [1, 2, 3] as [UInt64])
    func `at each token the result is that of a fetch`(_ query: Query, _ seed: UInt64) async throws {
        var configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        configuration.options.performing.threadCount = 3
        let container = try ModelContainer(for: Folder.self, configurations: configuration)
        let log = Log()
        let written = SharedCount()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 as Range<UInt64> {
                group.addTask {
                    try await Self.write(container, query, log, seed * 100 + writer)
                    written.add()
                }
            }
            for reader in 0..<3 as Range<UInt64> {
                group.addTask {
                    let counts = try await Self.follow(container, query, log, seed * 1_000 + reader) {
                        written.value == 4
                    }
                    #expect(counts.tokens > 0)
                }
            }
            // Further changes wake readers that have the last state of the writers.
            while written.value < 4 { try await Task.sleep(for: .milliseconds(5)) }
            let finisher = Task {
                while !Task.isCancelled {
                    try await Task.sleep(for: .milliseconds(20))
                    try await container.perform { context in
                        try log.save(context, FetchDescriptor(predicate: query.predicate)) {
                            let document = Document("a", number: 9)
                            document.folder = Folder("a")
                            document.labels = [Label("a")]
                            context.insert(document)
                        }
                    }
                }
            }
            try await group.waitForAll()
            finisher.cancel()
            _ = await finisher.result
        }
    }
}

/// A number that tasks count up.
final class SharedCount: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .sequentiallyConsistent) }
    func add() { count.add(1, ordering: .sequentiallyConsistent) }
}
