import BenchmarkKit

extension PeerWorkloads {
    /// Deletes department 42 and its employees, in one transaction.
    var w7: Workload {
        Workload("w7", defaultCount: 1_000_000, start: .changing(full)) { run in
            let peer = try open(run.store)
            let before = EmployeeSums(first: run.n)
            let measurement = WorkloadMeasurement(store: run.store)
            measurement.begin()
            measurement.resume()
            try peer.deleteDepartment(42)
            measurement.end()
            try measurement.settle { try peer.settle() }
            var line = measurement.line(workload: "w7", n: run.n, operations: before.departmentCount)
            let after = try sums(peer)
            try check("employees of department 42", peer.memberCount(of: 42), is: 0)
            try check("employees", after.count, is: before.count - before.departmentCount)
            try check("bytes", after.byteCount, is: before.byteCount - 120 * before.departmentCount)
            line.rows = after.count
            try peer.close()
            return result(line)
        }
    }

    /// Reads the employees of each department and adds up their salaries.
    var w11Department: Workload {
        Workload("w11-dept", defaultCount: 1_000_000, start: .reading(full)) { run in
            let peer = try open(run.store)
            var sums: [Double] = []
            var count = 0
            let measurement = WorkloadMeasurement(store: run.store)
            measurement.begin()
            measurement.resume()
            for department in 1...100 {
                var salary = 0.0
                try peer.walkMembers(of: department) { row in
                    salary += row.salary
                    count += 1
                }
                sums.append(salary)
            }
            measurement.end()
            try check("employees", count, is: run.n)
            try check("salaries by department", sums, is: DepartmentSums.salaries(n: run.n))
            var line = measurement.line(workload: "w11-dept", n: run.n, operations: run.n)
            line.rows = count
            line.sum = sums.reduce(0, +)
            try peer.close()
            return result(line)
        }
    }

    /// Reads the name of the department of 100,000 random employees.
    var w11Hop: Workload {
        Workload("w11-hop", defaultCount: 1_000_000, start: .reading(full)) { run in
            let peer = try open(run.store)
            _ = try peer.readDepartmentNames(of: DrawnOrder.ids(count: 20_000, bound: run.n, stream: 110))
            let ids = DrawnOrder.ids(count: 100_000, bound: run.n, stream: 11)
            let measurement = WorkloadMeasurement(store: run.store)
            measurement.begin()
            measurement.resume()
            let byteCount = try peer.readDepartmentNames(of: ids)
            measurement.end()
            try check("bytes of names", byteCount, is: DepartmentSums.nameByteCount(of: ids))
            let line = measurement.line(workload: "w11-hop", n: run.n, operations: ids.count)
            try peer.close()
            return result(line)
        }
    }
}
