/// The parts of the workloads of documents that are the same for all stores.
extension DocumentMaker {
    private static var batchSize: Int { 1_000 }
    private static var queryCount: Int { 500 }
    private static var untimedCount: Int { 20 }

    /// Makes documents in batches of 1,000.
    ///
    /// - Parameters:
    ///   - count: The number of documents, from the first on.
    ///   - body: Gets each batch.
    /// - Returns: The bytes of all texts.
    /// - Throws: The errors of `body`.
    package func forEachBatch(through count: Int, _ body: ([Document]) throws -> Void) rethrows -> Int {
        var byteCount = 0
        for start in stride(from: 1, through: count, by: Self.batchSize) {
            let batch = (start..<min(start + Self.batchSize, count + 1)).map(document)
            byteCount += batch.reduce(0) { $0 + $1.byteCount }
            try body(batch)
        }
        return byteCount
    }

    /// Measures 500 queries of a kind, after 20 of them that are not timed.
    ///
    /// - Parameters:
    ///   - kind: The kind.
    ///   - run: The run; its store has the documents.
    ///   - titles: Reads the titles of the first documents of a query.
    /// - Returns: The line of the workload.
    /// - Throws: The errors of `titles`; `BenchmarkError` if it finds no title.
    package func measure(
        _ kind: Query, _ run: WorkloadRun, _ titles: (_ query: String) throws -> [String]
    ) throws -> ResultLine {
        let queries = queries(kind, count: Self.queryCount, bound: run.n)
        for query in queries.prefix(Self.untimedCount) { _ = try titles(query) }
        var rows = 0
        var byteCount = 0
        var latencies = Latencies(capacity: queries.count)
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        for query in queries {
            let start = ProcessFigures.wallNanoseconds()
            for title in try titles(query) {
                rows += 1
                byteCount += title.utf8.count
            }
            latencies.record(ProcessFigures.wallNanoseconds() - start)
        }
        measurement.end()
        try check("whether there are titles", byteCount > 0, is: true)
        var line = measurement.line(workload: kind.workload, n: run.n, operations: queries.count)
        line.latencies = latencies
        line.rows = rows
        return line
    }
}

extension DocumentMaker.Query {
    /// The name of the workload with queries of the kind.
    package var workload: String { "search-\(rawValue)" }
}
