import Synchronization

/// Searches beside a writer.
extension DocumentMaker {
    private static var readerCount: Int { 8 }
    /// Queries of each reader, of the four kinds in turns.
    private static var queriesAReader: Int { 250 }
    private static var insertedAtOnce: Int { 10 }

    /// Measures the queries of eight threads while another thread inserts ten documents a transaction without a pause.
    ///
    /// - Parameters:
    ///   - run: The run; its store has the documents.
    ///   - reader: Makes the search of a thread, on that thread: it reads the titles of the first documents of a query.
    ///   - insert: Inserts documents in one transaction.
    /// - Returns: The line of the workload: queries, and their durations; in `rows`, the documents that were inserted.
    /// - Throws: The errors of the closures; `BenchmarkError` if no title was found or no document inserted.
    package func measureBusy(
        _ run: WorkloadRun, reader: @escaping @Sendable () throws -> (_ query: String) throws -> [String],
        insert: @escaping @Sendable ([Document]) throws -> Void
    ) throws -> ResultLine {
        let kinds = Query.allCases.map { queries($0, count: Self.queriesAReader, bound: run.n) }
        let readers = Readers(count: Self.readerCount)
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        let parts = try Crew.run(Self.readerCount + 1) {
            measurement.resume()
        } body: { thread, ready in
            guard thread < Self.readerCount else {
                ready()
                return Part(insertedCount: try insertUntil({ readers.areOver }, behind: run.n, insert))
            }
            defer { readers.endOne() }
            let titles = try reader()
            var part = Part(latencies: Latencies(capacity: Self.queriesAReader))
            ready()
            for number in 0..<Self.queriesAReader {
                // Each thread begins elsewhere, so that no two ask for the same at once.
                let query = kinds[(number + thread) % kinds.count][(number + thread * 31) % Self.queriesAReader]
                let start = ProcessFigures.wallNanoseconds()
                part.byteCount += try titles(query).reduce(0) { $0 + $1.utf8.count }
                part.latencies.record(ProcessFigures.wallNanoseconds() - start)
            }
            return part
        }
        measurement.end()
        var latencies = Latencies(capacity: Self.readerCount * Self.queriesAReader)
        for part in parts { latencies.record(part.latencies) }
        let insertedCount = parts.reduce(0) { $0 + $1.insertedCount }
        try check("whether there are titles", parts.contains { $0.byteCount > 0 }, is: true)
        try check("whether documents were inserted", insertedCount > 0, is: true)
        var line = measurement.line(workload: "search-busy", n: run.n, operations: latencies.count)
        line.latencies = latencies
        line.rows = insertedCount
        return line
    }

    private func insertUntil(
        _ isOver: () -> Bool, behind count: Int, _ insert: ([Document]) throws -> Void
    ) throws -> Int {
        var inserted = 0
        while !isOver() {
            try insert((0..<Self.insertedAtOnce).map { document(count + inserted + $0 + 1) })
            inserted += Self.insertedAtOnce
        }
        return inserted
    }
}

/// The figures of a thread.
private struct Part: Sendable {
    var latencies = Latencies(capacity: 0)
    var byteCount = 0
    var insertedCount = 0
}

/// The readers that are not at their end.
private final class Readers: Sendable {
    private let count: Atomic<Int>

    init(count: Int) { self.count = Atomic(count) }

    var areOver: Bool { count.load(ordering: .acquiring) == 0 }

    func endOne() { count.subtract(1, ordering: .acquiringAndReleasing) }
}
