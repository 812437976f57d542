import BenchmarkKit
import Faultline

extension Workload {
    /// `w12-compact`: frees the space of old versions after `w12`.
    static let w12Compact = Workload(
        "w12-compact",
        defaultCount: 1_000_000,
        start: .changing(EmployeeStore.churned)
    ) { run in
        let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        let summary = try container.compact()
        measurement.end()
        try check("damaged files", summary.damage.count, is: 0)
        var line = measurement.line(workload: "w12-compact", n: run.n, operations: 1)
        line.bytes = summary.reclaimedByteCount
        try EmployeeStore.checkChurned(ModelContext(container), run.n)
        try container.close()
        return line
    }
}
