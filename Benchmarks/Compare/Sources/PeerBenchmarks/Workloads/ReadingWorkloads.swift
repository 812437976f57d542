import BenchmarkKit

extension PeerWorkloads {
    /// Reads name and salary of 200,000 random employees by number.
    var w3: Workload {
        Workload("w3", defaultCount: 1_000_000, start: .reading(full)) { run in
            let peer = try open(run.store)
            _ = try peer.read(DrawnOrder.ids(count: 20_000, bound: run.n, stream: 30))
            let ids = DrawnOrder.ids(count: 200_000, bound: run.n, stream: 3)
            let measurement = WorkloadMeasurement(store: run.store)
            measurement.begin()
            measurement.resume()
            let found = try peer.read(ids)
            measurement.end()
            try check("salaries", found.salary, is: EmployeeSums(of: ids).salary)
            try check("bytes of names", found.byteCount, is: 16 * ids.count)
            var line = measurement.line(workload: "w3", n: run.n, operations: ids.count)
            line.rows = ids.count
            line.sum = found.salary
            try peer.close()
            return result(line)
        }
    }

    /// Counts the well-paid active employees without an index.
    var w4Count: Workload {
        Workload("w4-count", defaultCount: 1_000_000, start: .reading(full)) { run in
            let peer = try open(run.store)
            let measurement = WorkloadMeasurement(store: run.store)
            measurement.begin()
            measurement.resume()
            let count = try peer.wellPaidCount()
            measurement.end()
            try check("count", count, is: EmployeeSums(first: run.n).wellPaidCount)
            var line = measurement.line(workload: "w4-count", n: run.n, operations: run.n)
            line.rows = count
            try peer.close()
            return result(line)
        }
    }

    /// Walks all employees, decodes all nine properties of each.
    var w4Sum: Workload {
        Workload("w4-sum", defaultCount: 1_000_000, start: .reading(full)) { run in
            let peer = try open(run.store)
            let measurement = WorkloadMeasurement(store: run.store)
            measurement.begin()
            measurement.resume()
            let sums = try sums(peer)
            measurement.end()
            try check("sums", sums, is: EmployeeSums(first: run.n))
            var line = measurement.line(workload: "w4-sum", n: run.n, operations: run.n)
            line.rows = sums.count
            line.sum = sums.salary
            try peer.close()
            return result(line)
        }
    }

    /// Reads 200,000 random employees by their unique e-mail address, all of each.
    var w5Email: Workload { lookUps("w5-email") }

    /// The same: Faultline's workload of this name makes no predicate.
    var w5First: Workload { lookUps("w5-first") }

    private func lookUps(_ name: String) -> Workload {
        Workload(name, defaultCount: 1_000_000, start: .reading(full)) { run in
            let peer = try open(run.store)
            let maker = EmployeeMaker()
            try peer.find(DrawnOrder.ids(count: 20_000, bound: run.n, stream: 50).map { maker.email($0) }) { _ in }
            let ids = DrawnOrder.ids(count: 200_000, bound: run.n, stream: 5)
            let emails = ids.map { maker.email($0) }
            var sums = EmployeeSums()
            let measurement = WorkloadMeasurement(store: run.store)
            measurement.begin()
            measurement.resume()
            try peer.find(emails) { sums.add($0) }
            measurement.end()
            try check("sums", sums, is: EmployeeSums(of: ids))
            var line = measurement.line(workload: "w5-email", n: run.n, operations: ids.count)
            line.rows = sums.count
            line.sum = sums.salary
            try peer.close()
            return result(line)
        }
    }
}
