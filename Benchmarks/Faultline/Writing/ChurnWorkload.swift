import BenchmarkKit
import Faultline

extension Workload {
    /// `w12`: sets salary and notes of all employees five times over, 10,000 a transaction; the pending compaction
    /// afterwards is timed as settling.
    static let w12 = Workload("w12", defaultCount: 1_000_000, start: .changing(EmployeeStore.full)) { run in
        let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
        let measurement = WorkloadMeasurement(store: run.store, total: run.n * ChurnChanges.passCount)
        measurement.begin()
        try EmployeeStore.churn(ModelContext(container), run.n, measurement.time)
        measurement.end()
        try measurement.settle { try container.compact() }
        let line = measurement.line(workload: "w12", n: run.n, operations: run.n * ChurnChanges.passCount)
        try EmployeeStore.checkChurned(ModelContext(container), run.n)
        try container.close()
        return line
    }
}
