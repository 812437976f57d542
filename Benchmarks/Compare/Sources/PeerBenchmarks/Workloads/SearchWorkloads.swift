import BenchmarkKit

/// A peer with an index over the words of texts.
protocol SearchingPeer: Peer {
    /// Creates the table of documents and its index.
    func createDocuments() throws
    /// Inserts documents in one transaction.
    func insert(_ documents: [DocumentMaker.Document]) throws
    /// Makes the index as small and fast as it can be.
    func optimizeIndex() throws
    /// The bytes of the index, without the texts.
    func indexByteCount() throws -> Int
    /// The titles of the first 20 documents by rank.
    func titles(of query: String) throws -> [String]
}

extension PeerWorkloads where P: SearchingPeer {
    /// The workloads of documents.
    var searching: [Workload] { [searchInsert] + DocumentMaker.Query.allCases.map(search) }

    private var noDocuments: StartingStore {
        StartingStore("no-documents-1") { folder, _ in
            let peer = try P(folder, .usual)
            try peer.createDocuments()
            try peer.settle()
            try peer.close()
        }
    }

    private var documents: StartingStore {
        StartingStore("documents-1") { folder, count in
            let peer = try P(folder, .usual)
            try peer.createDocuments()
            _ = try insertDocuments(peer, count) { _, work in try work() }
            try peer.optimizeIndex()
            try peer.close()
        }
    }

    /// Inserts documents, 1,000 a transaction, whose texts are made before; returns the bytes of the texts.
    private func insertDocuments(
        _ peer: P, _ count: Int, _ transaction: (_ count: Int, _ work: () throws -> Void) throws -> Void
    ) throws -> Int {
        let maker = DocumentMaker()
        var byteCount = 0
        for start in stride(from: 1, through: count, by: 1_000) {
            let batch = (start..<min(start + 1_000, count + 1)).map(maker.document)
            byteCount += batch.reduce(0) { $0 + $1.byteCount }
            try transaction(batch.count) { try peer.insert(batch) }
        }
        return byteCount
    }

    /// Inserts documents; the last optimization of the index is timed apart.
    private var searchInsert: Workload {
        Workload("search-insert", defaultCount: 200_000, start: .changing(noDocuments)) { run in
            let peer = try open(run.store)
            let measurement = WorkloadMeasurement(store: run.store, total: run.n)
            measurement.begin()
            let byteCount = try insertDocuments(peer, run.n) { count, work in
                measurement.resume()
                try work()
                measurement.advance(count)
                measurement.pause()
            }
            measurement.end()
            try measurement.settle { try peer.optimizeIndex() }
            var line = measurement.line(workload: "search-insert", n: run.n, operations: run.n)
            line.bytes = try peer.indexByteCount()
            line.sum = Double(byteCount)
            try peer.close()
            return result(line)
        }
    }

    /// Reads the titles of the first 20 documents by rank, for 500 queries of a kind.
    private func search(_ kind: DocumentMaker.Query) -> Workload {
        let name = "search-\(kind.rawValue)"
        return Workload(name, defaultCount: 200_000, start: .reading(documents)) { run in
            let peer = try open(run.store)
            let queries = DocumentMaker().queries(kind, count: 500, bound: run.n)
            for query in queries.prefix(20) { _ = try peer.titles(of: query) }
            var rows = 0, byteCount = 0
            var latencies = Latencies(capacity: queries.count)
            let measurement = WorkloadMeasurement(store: run.store)
            measurement.begin()
            measurement.resume()
            for query in queries {
                let start = ProcessFigures.wallNanoseconds()
                for title in try peer.titles(of: query) {
                    rows += 1
                    byteCount += title.utf8.count
                }
                latencies.record(ProcessFigures.wallNanoseconds() - start)
            }
            measurement.end()
            try check("whether there are titles", byteCount > 0, is: true)
            var line = measurement.line(workload: name, n: run.n, operations: queries.count)
            line.latencies = latencies
            line.rows = rows
            try peer.close()
            return result(line)
        }
    }
}
