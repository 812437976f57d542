import BenchmarkKit

extension PeerWorkloads {
    /// Opens a store that was closed, and reads one employee by number.
    var w10Clean: Workload {
        Workload("w10-clean", defaultCount: 1_000_000, start: .changing(full)) { run in
            let (peer, line) = try openAndRead(run, "w10-clean")
            let id = DrawnOrder.ids(count: 1, bound: run.n, stream: 10)[0]
            try check("salary", line.sum, is: EmployeeMaker().employee(id).salary)
            try peer.close()
            return result(line)
        }
    }

    /// The same after the writer was killed; the whole store is then compared with whole transactions.
    var w10Killed: Workload {
        let start = Workload.Start.killed(full) { run in
            let peer = try open(run.store)
            var changes = EndlessChanges(n: run.n)
            while true { try peer.apply(changes.nextBatch()) }
        }
        return Workload("w10-killed", defaultCount: 1_000_000, start: start) { run in
            let logByteCount = P.logByteCount(in: run.store)
            var (peer, line) = try openAndRead(run, "w10-killed")
            var salaries: [Double] = []
            var notes: [String] = []
            try peer.walk { row in
                salaries.append(row.salary)
                notes.append(row.notes)
            }
            try check("employees", salaries.count, is: run.n)
            let id = DrawnOrder.ids(count: 1, bound: run.n, stream: 10)[0]
            try check("salary", line.sum, is: salaries[id - 1])
            let count = try EndlessChanges.transactionCount(salaries: salaries, notes: notes)
            guard count > 0 else { throw BenchmarkError(.wrongResult, "the writer was killed before its first commit") }
            line.rows = count * EndlessChanges.batchSize
            line.logByteCount = logByteCount
            try peer.close()
            return result(line)
        }
    }

    /// Times from before opening to the end of the first read.
    private func openAndRead(_ run: WorkloadRun, _ name: String) throws -> (peer: P, line: ResultLine) {
        let id = DrawnOrder.ids(count: 1, bound: run.n, stream: 10)
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        let peer = try open(run.store)
        let found = try peer.read(id)
        measurement.end()
        var line = measurement.line(workload: name, n: run.n, operations: 1)
        line.sum = found.salary
        return (peer, line)
    }
}
