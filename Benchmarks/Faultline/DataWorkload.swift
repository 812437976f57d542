import BenchmarkKit

extension Workload {
    /// `data`: makes the employees without storing them: the cost of the data itself.
    static let data = Workload("data", defaultCount: 1_000_000, start: .nothing) { run in
        let maker = EmployeeMaker()
        let measurement = WorkloadMeasurement(store: nil, total: run.n)
        var sum = 0.0
        var byteCount = 0
        measurement.begin()
        measurement.resume()
        for id in 1...run.n {
            let employee = maker.employee(id)
            sum += employee.salary
            byteCount += employee.name.utf8.count + employee.email.utf8.count + employee.notes.utf8.count
            if id % 10_000 == 0 { measurement.advance(10_000) }
        }
        measurement.end()
        try check("bytes of texts", byteCount, is: run.n * 120)
        var line = measurement.line(workload: "data", n: run.n, operations: run.n)
        line.rows = run.n
        line.sum = sum
        return line
    }
}
