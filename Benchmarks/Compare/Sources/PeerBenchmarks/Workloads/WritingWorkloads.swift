import BenchmarkKit

extension PeerWorkloads {
    /// Inserts employees, 10,000 a transaction; making their values is not timed.
    var w1: Workload {
        Workload("w1", defaultCount: 1_000_000, start: .changing(empty)) { run in
            let peer = try open(run.store)
            let maker = EmployeeMaker()
            let measurement = WorkloadMeasurement(store: run.store, total: run.n)
            measurement.begin()
            for start in stride(from: 1, through: run.n, by: Self.batchSize) {
                let batch = EmployeeRow.rows(start..<min(start + Self.batchSize, run.n + 1), maker)
                measurement.resume()
                try peer.insert(batch)
                measurement.advance(batch.count)
                measurement.pause()
            }
            measurement.end()
            try measurement.settle { try peer.settle() }
            let line = measurement.line(workload: "w1", n: run.n, operations: run.n)
            try checkInserted(peer, run.n)
            try peer.close()
            return result(line)
        }
    }

    /// 2,000 commits of one new employee each, every one on the disk when it returns.
    var w2: Workload {
        Workload("w2", defaultCount: 2_000, isDefaultMost: true, start: .changing(empty)) { run in
            let peer = try P(run.store, .full)
            let maker = EmployeeMaker()
            let rows = (1...run.n).map { EmployeeRow(maker.employee($0)) }
            var latencies = Latencies(capacity: run.n)
            let measurement = WorkloadMeasurement(store: run.store)
            measurement.begin()
            measurement.resume()
            for row in rows {
                let start = ProcessFigures.wallNanoseconds()
                try peer.insert([row])
                latencies.record(ProcessFigures.wallNanoseconds() - start)
            }
            measurement.end()
            try measurement.settle { try peer.settle() }
            var line = measurement.line(workload: "w2", n: run.n, operations: run.n)
            line.latencies = latencies
            try checkInserted(peer, run.n)
            try peer.close()
            return result(line)
        }
    }

    /// Sets the salary of 100,000 random employees, 1,000 a transaction.
    var w6: Workload {
        Workload("w6", defaultCount: 1_000_000, start: .changing(full)) { run in
            let peer = try open(run.store)
            let changes = SalaryChanges(n: run.n)
            let measurement = WorkloadMeasurement(store: run.store, total: changes.ids.count)
            measurement.begin()
            measurement.resume()
            for start in stride(from: 0, to: changes.ids.count, by: SalaryChanges.batchSize) {
                let range = start..<min(start + SalaryChanges.batchSize, changes.ids.count)
                try peer.setSalaries(changes.ids[range], changes.salaries[range])
                measurement.advance(range.count)
            }
            measurement.end()
            try measurement.settle { try peer.settle() }
            let line = measurement.line(workload: "w6", n: run.n, operations: changes.ids.count)
            let maker = EmployeeMaker()
            let expected = changes.outcome(n: run.n)
            var place = 0
            try peer.walk { row in
                try check("salary of \(place + 1)", row.salary, is: expected[place])
                if place % 1_000 == 0 { try check("name", row.name, is: maker.employee(place + 1).name) }
                place += 1
            }
            try check("employees", place, is: run.n)
            try peer.close()
            return result(line)
        }
    }

    /// Sets salary and notes of all employees five times over, 10,000 a transaction.
    var w12: Workload {
        Workload("w12", defaultCount: 1_000_000, start: .changing(full)) { run in
            let peer = try open(run.store)
            var changes = ChurnChanges(n: run.n)
            let measurement = WorkloadMeasurement(store: run.store, total: changes.total)
            measurement.begin()
            while true {
                let batch = changes.nextBatch()
                if batch.isEmpty { break }
                measurement.resume()
                try peer.apply(batch)
                measurement.advance(batch.count)
                measurement.pause()
            }
            measurement.end()
            try measurement.settle { try peer.settle() }
            let line = measurement.line(workload: "w12", n: run.n, operations: changes.total)
            try checkChurned(peer, run.n)
            try peer.close()
            return result(line)
        }
    }

    /// Frees the space of old versions after `w12`.
    var w12Compact: Workload {
        Workload("w12-compact", defaultCount: 1_000_000, start: .changing(churned)) { run in
            let peer = try open(run.store)
            let measurement = WorkloadMeasurement(store: run.store)
            measurement.begin()
            measurement.resume()
            try peer.compact()
            measurement.end()
            let line = measurement.line(workload: "w12-compact", n: run.n, operations: 1)
            try checkChurned(peer, run.n)
            try peer.close()
            return result(line)
        }
    }
}
