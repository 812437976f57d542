import BenchmarkKit
import Faultline

extension Workload {
    /// `w4-count`: counts the well-paid active employees without an index.
    static let w4Count = Workload("w4-count", defaultCount: 1_000_000, start: .reading(EmployeeStore.full)) { run in
        let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
        let context = ModelContext(container)
        let wellPaid = FetchDescriptor<Employee>(predicate: #Predicate { $0.salary > 120_000 && $0.active })
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        let count = try context.fetchCount(wellPaid)
        measurement.end()
        try check("count", count, is: EmployeeSums(first: run.n).wellPaidCount)
        if run.n == 1_000_000 { try check("count of a million", count, is: 219_005) }
        var line = measurement.line(workload: "w4-count", n: run.n, operations: run.n)
        line.rows = count
        return line
    }
}
