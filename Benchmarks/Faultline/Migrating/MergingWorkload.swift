import BenchmarkKit
import Faultline

extension Workload {
    /// `migrate-merge`: opens the store under a version with one team for each level, into which a policy merges all
    /// employees, and reads the teams.
    static let migrateMerge = merging("migrate-merge", 1_000_000, isMost: false)
    /// `migrate-merge-few`: the same with a tenth of the employees, so that the rates of both show how the time grows.
    static let migrateMergeFew = merging("migrate-merge-few", 100_000, isMost: true)

    private static func merging(_ name: String, _ count: Int, isMost: Bool) -> Workload {
        Workload(name, defaultCount: count, isDefaultMost: isMost, start: .changing(EmployeeStore.full)) {
            try merge(name, $0)
        }
    }

    private static func merge(_ name: String, _ run: WorkloadRun) throws -> ResultLine {
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
        let line = measurement.line(workload: name, n: run.n, operations: run.n)
        try container.close()
        return line
    }
}
