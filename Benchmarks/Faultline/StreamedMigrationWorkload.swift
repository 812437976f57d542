import BenchmarkKit
import Faultline

extension Workload {
    /// `migrate-stream`: opens the store under the new version, which splits all names by a streamed stage, and reads
    /// one object.
    static let migrateStream = Workload(
        "migrate-stream",
        defaultCount: 1_000_000,
        start: .changing(EmployeeStore.full)
    ) { run in
        var configuration = EmployeeStore.configuration(run.store)
        if let ceiling = run.budgetMiB {
            configuration.options.migration.memoryCeiling = ceiling << 20
            configuration.options.memoryBudget = ceiling << 20
        }
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        let container = try ModelContainer(
            for: Schema(versionedSchema: SplitNames.self),
            migrationPlan: SplittingPlan.self,
            configurations: configuration
        )
        let context = ModelContext(container)
        var first = FetchDescriptor<SplitNames.Employee>()
        first.fetchLimit = 1
        let found = try context.fetch(first).map { "\($0.firstName) \($0.lastName)" }
        measurement.end()
        let maker = EmployeeMaker()
        try check("first name", found, is: [maker.employee(1).name])
        try check("objects written", container.migrationReport.objectsWritten, is: run.n)
        let line = measurement.line(workload: "migrate-stream", n: run.n, operations: run.n)

        let departments = try context.fetch(FetchDescriptor<SplitNames.Department>())
        try check("departments", departments.count, is: EmployeeStore.departmentCount)
        try checkSplitNames(in: context, SplitNames.Employee.self, count: run.n) { $0.department === departments[41] }
        try check(
            "employees of department 42", departments[41].employees.count,
            is: EmployeeSums(first: run.n).departmentCount)
        try container.close()
        return line
    }
}
