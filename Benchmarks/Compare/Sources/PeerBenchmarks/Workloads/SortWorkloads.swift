import BenchmarkKit

extension PeerWorkloads {
    /// Reads the first fifty employees by name, without an index.
    var w5Sort: Workload {
        Workload("w5-sort", defaultCount: 1_000_000, start: .reading(full)) { run in
            let peer = try open(run.store)
            let measurement = WorkloadMeasurement(store: run.store)
            measurement.begin()
            measurement.resume()
            let found = try peer.firstByName(FirstNames.count)
            measurement.end()
            try check("names", found.map(\.name), is: FirstNames.expected(n: run.n))
            var line = measurement.line(workload: "w5-sort", n: run.n, operations: 1)
            line.rows = found.count
            try peer.close()
            return result(line)
        }
    }
}

extension PeerWorkloads where P: IndexingPeer {
    /// The workloads for peers that can create indexes.
    var indexing: [Workload] { [w5Index, w5SortIndexed] }

    /// The full store with an index of names.
    private var named: StartingStore {
        StartingStore("named-1") { folder, count in
            try full.make(folder, count)
            let peer = try P(folder, .usual)
            try peer.indexNames()
            try peer.settle()
            try peer.close()
        }
    }

    /// Creates the index of names.
    private var w5Index: Workload {
        Workload("w5-index", defaultCount: 1_000_000, start: .changing(full)) { run in
            let peer = try open(run.store)
            let measurement = WorkloadMeasurement(store: run.store)
            measurement.begin()
            measurement.resume()
            try peer.indexNames()
            measurement.end()
            try measurement.settle { try peer.settle() }
            let line = measurement.line(workload: "w5-index", n: run.n, operations: run.n)
            let found = try peer.firstByName(FirstNames.count).map(\.name)
            try check("names", found, is: FirstNames.expected(n: run.n))
            try peer.close()
            return result(line)
        }
    }

    /// Reads the first fifty employees by name a thousand times, with the index.
    private var w5SortIndexed: Workload {
        Workload("w5-sort-indexed", defaultCount: 1_000_000, start: .reading(named)) { run in
            let peer = try open(run.store)
            let expected = FirstNames.expected(n: run.n)
            var rows = 0
            let measurement = WorkloadMeasurement(store: run.store)
            measurement.begin()
            measurement.resume()
            for _ in 0..<1_000 {
                let found = try peer.firstByName(FirstNames.count).map(\.name)
                rows += found.count
                measurement.pause()
                try check("names", found, is: expected)
                measurement.resume()
            }
            measurement.end()
            var line = measurement.line(workload: "w5-sort-indexed", n: run.n, operations: 1_000)
            line.rows = rows
            try peer.close()
            return result(line)
        }
    }
}
