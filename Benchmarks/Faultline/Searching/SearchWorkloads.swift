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
        try DocumentMaker().forEachBatch(through: count) { batch in
            try transaction(batch.count) {
                for document in batch { context.insert(Document(title: document.title, body: document.body)) }
                try context.save()
            }
        }
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
        let byteCount = try DocumentStore.insert(run.n, ModelContext(container), measurement.time)
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
        Workload(kind.workload, defaultCount: 200_000, start: .reading(DocumentStore.full)) { run in
            let container = try DocumentStore.open(run.store, budgetMiB: run.budgetMiB)
            let context = ModelContext(container)
            let line = try DocumentMaker().measure(kind, run) { query in
                try context.search(Document.self, query, limit: 20).map(\.object.title)
            }
            try container.close()
            return line
        }
    }

    /// `search-busy`: queries of eight threads while another one inserts documents.
    static let searchBusy = Workload(
        "search-busy", defaultCount: 200_000, start: .changing(DocumentStore.full)
    ) { run in
        let container = try DocumentStore.open(run.store, budgetMiB: run.budgetMiB)
        let line = try DocumentMaker().measureBusy(
            run,
            reader: {
                let context = ModelContext(container)
                return { try context.search(Document.self, $0, limit: 20).map(\.object.title) }
            },
            insert: { documents in
                let context = ModelContext(container)
                for document in documents { context.insert(Document(title: document.title, body: document.body)) }
                try context.save()
            })
        try container.close()
        return line
    }
}
