import BenchmarkKit
import Faultline

extension Workload {
    /// `w2`: 2,000 saves of one new employee each, every one on the disk when it returns.
    static let w2 = Workload("w2", defaultCount: 2_000, isDefaultMost: true, start: .changing(EmployeeStore.empty)) {
        run in
        let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
        let context = ModelContext(container)
        let departments = try EmployeeStore.departments(in: context)
        let maker = EmployeeMaker()
        let records = (1...run.n).map { EmployeeRecord(maker.employee($0)) }
        var latencies = Latencies(capacity: run.n)
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        for values in records {
            let start = ProcessFigures.wallNanoseconds()
            context.insert(Employee(values, department: departments[values.department - 1]))
            try context.save()
            latencies.record(ProcessFigures.wallNanoseconds() - start)
        }
        measurement.end()
        try measurement.settle { try container.checkpoint() }
        var line = measurement.line(workload: "w2", n: run.n, operations: run.n)
        line.latencies = latencies
        try check("sums", EmployeeStore.sums(in: ModelContext(container)), is: EmployeeSums(first: run.n))
        try container.close()
        return line
    }
}
