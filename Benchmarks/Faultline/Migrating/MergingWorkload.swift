import BenchmarkKit
import Faultline

extension Workload {
    /// `migrate-merge`: opens the store under a version with one team for each level, into which a policy merges all
    /// employees, and reads the teams.
    static let migrateMerge = Workload(
        "migrate-merge", defaultCount: 1_000_000, start: .changing(EmployeeStore.full)
    ) { run in
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        let container = try ModelContainer(
            for: Schema(versionedSchema: Teams.self), migrationPlan: TeamPlan.self,
            configurations: EmployeeStore.configuration(run.store, ceilingMiB: run.budgetMiB))
        let teams = try ModelContext(container).fetch(FetchDescriptor<Teams.Team>())
        measurement.end()
        let sums = EmployeeSums(first: run.n)
        try check("employees", teams.reduce(0) { $0 + $1.count }, is: run.n)
        try check("levels", teams.reduce(0) { $0 + $1.count * $1.level }, is: sums.level)
        let difference = teams.reduce(-sums.salary) { $0 + $1.salaries }
        try check("salaries", abs(difference) < 1, is: true)
        let line = measurement.line(workload: "migrate-merge", n: run.n, operations: run.n)
        try container.close()
        return line
    }
}
