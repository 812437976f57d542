import BenchmarkKit

/// A peer with an index over the words of texts.
protocol SearchingPeer: Peer, Sendable {
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
    var searching: [Workload] { [searchInsert, searchBusy] + DocumentMaker.Query.allCases.map(search) }

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
        try DocumentMaker().forEachBatch(through: count) { batch in
            try transaction(batch.count) { try peer.insert(batch) }
        }
    }

    /// Inserts documents; the last optimization of the index is timed apart.
    private var searchInsert: Workload {
        Workload("search-insert", defaultCount: 200_000, start: .changing(noDocuments)) { run in
            let peer = try open(run.store)
            let measurement = WorkloadMeasurement(store: run.store, total: run.n)
            measurement.begin()
            let byteCount = try insertDocuments(peer, run.n, measurement.time)
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
        Workload(kind.workload, defaultCount: 200_000, start: .reading(documents)) { run in
            let peer = try open(run.store)
            let line = try DocumentMaker().measure(kind, run, peer.titles)
            try peer.close()
            return result(line)
        }
    }

    /// Queries of eight threads while another one inserts documents.
    private var searchBusy: Workload {
        Workload("search-busy", defaultCount: 200_000, start: .changing(documents)) { run in
            let peer = try open(run.store)
            let line = try DocumentMaker().measureBusy(
                run, reader: { { try peer.titles(of: $0) } }, insert: { try peer.insert($0) })
            try peer.close()
            return result(line)
        }
    }
}
