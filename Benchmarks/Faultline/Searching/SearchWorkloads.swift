import BenchmarkKit
import Faultline

/// A document with an index over its words.
@Model
final class Document {
    #TextIndex<Document>([\.title, \.body])
    var title: String
    var body: String

    init(title: String, body: String) {
        self.title = title
        self.body = body
    }
}

/// The store of documents.
enum DocumentStore {
    static let batchSize = 1_000

    static func open(_ folder: StoreFolder, budgetMiB: Int?) throws -> ModelContainer {
        try ModelContainer(
            for: Document.self, configurations: EmployeeStore.configuration(folder, budgetMiB: budgetMiB))
    }

    /// No documents.
    static let empty = StartingStore("no-documents-1") { folder, _ in
        try open(folder, budgetMiB: nil).close()
    }

    /// `count` documents.
    static let full = StartingStore("documents-1") { folder, count in
        let container = try open(folder, budgetMiB: nil)
        try insert(count, ModelContext(container)) { _, work in try work() }
        try container.checkpoint()
        try container.close()
    }

    /// Inserts documents, 1,000 a save.
    ///
    /// - Parameters:
    ///   - count: The number of documents.
    ///   - context: The context that writes them.
    ///   - transaction: Gets the number of documents of each save, and its work; their texts are made before.
    /// - Returns: The bytes of all texts.
    /// - Throws: The error of the store.
    @discardableResult
    static func insert(
        _ count: Int, _ context: ModelContext, _ transaction: (_ count: Int, _ work: () throws -> Void) throws -> Void
    ) throws -> Int {
        let maker = DocumentMaker()
        var byteCount = 0
        for start in stride(from: 1, through: count, by: batchSize) {
            let batch = (start..<min(start + batchSize, count + 1)).map(maker.document)
            byteCount += batch.reduce(0) { $0 + $1.byteCount }
            try transaction(batch.count) {
                for document in batch { context.insert(Document(title: document.title, body: document.body)) }
                try context.save()
            }
        }
        return byteCount
    }
}

extension Workload {
    /// `search-insert`: inserts documents with a text index, 1,000 a save.
    ///
    /// In the line, `bytes` is the size of the index, and `sum` that of the texts.
    static let searchInsert = Workload(
        "search-insert", defaultCount: 200_000, start: .changing(DocumentStore.empty)
    ) { run in
        let container = try DocumentStore.open(run.store, budgetMiB: run.budgetMiB)
        let measurement = WorkloadMeasurement(store: run.store, total: run.n)
        measurement.begin()
        let byteCount = try DocumentStore.insert(run.n, ModelContext(container)) { count, work in
            measurement.resume()
            try work()
            measurement.advance(count)
            measurement.pause()
        }
        measurement.end()
        try measurement.settle { try container.checkpoint() }
        var line = measurement.line(workload: "search-insert", n: run.n, operations: run.n)
        try check("documents", ModelContext(container).fetchCount(FetchDescriptor<Document>()), is: run.n)
        try container.close()
        // Index runs: docs/FileFormat.md, section 1.
        line.bytes = try run.store.byteCount(ofNamesWith: "r-")
        line.sum = Double(byteCount)
        return line
    }

    /// `search-word` and others: the titles of the first 20 documents by rank, for 500 queries of a kind.
    static let searches: [Workload] = DocumentMaker.Query.allCases.map { kind in
        let name = "search-\(kind.rawValue)"
        return Workload(name, defaultCount: 200_000, start: .reading(DocumentStore.full)) { run in
            let container = try DocumentStore.open(run.store, budgetMiB: run.budgetMiB)
            let context = ModelContext(container)
            let queries = DocumentMaker().queries(kind, count: 500, bound: run.n)
            var rows = 0
            var byteCount = 0
            func find(_ query: String) throws {
                for hit in try context.search(Document.self, query, limit: 20) {
                    rows += 1
                    byteCount += hit.object.title.utf8.count
                }
            }
            for query in queries.prefix(20) { try find(query) }
            (rows, byteCount) = (0, 0)
            var latencies = Latencies(capacity: queries.count)
            let measurement = WorkloadMeasurement(store: run.store)
            measurement.begin()
            measurement.resume()
            for query in queries {
                let start = ProcessFigures.wallNanoseconds()
                try find(query)
                latencies.record(ProcessFigures.wallNanoseconds() - start)
            }
            measurement.end()
            try check("whether there are titles", byteCount > 0, is: true)
            var line = measurement.line(workload: name, n: run.n, operations: queries.count)
            line.latencies = latencies
            line.rows = rows
            try container.close()
            return line
        }
    }
}
