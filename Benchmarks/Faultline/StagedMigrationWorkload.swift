import BenchmarkKit
import Faultline

extension Workload {
    /// `migrate-staged`: opens the store under the version after the next, whose custom stage splits all names of
    /// one array, and reads one object.
    static let migrateStaged = Workload(
        "migrate-staged",
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
            for: Schema(versionedSchema: PartedNames.self),
            migrationPlan: StagingPlan.self,
            configurations: configuration
        )
        let context = ModelContext(container)
        var first = FetchDescriptor<PartedNames.Employee>()
        first.fetchLimit = 1
        let found = try context.fetch(first).map { "\($0.firstName) \($0.lastName)" }
        measurement.end()
        try check("first name", found, is: [EmployeeMaker().employee(1).name])
        try check("objects written", container.migrationReport.objectsWritten, is: run.n)
        let line = measurement.line(workload: "migrate-staged", n: run.n, operations: run.n)

        let departments = try context.fetch(FetchDescriptor<PartedNames.Department>())
        try check("departments", departments.count, is: EmployeeStore.departmentCount)
        try checkSplitNames(in: context, PartedNames.Employee.self, count: run.n) { $0.department === departments[41] }
        try check(
            "employees of department 42", departments[41].employees.count,
            is: EmployeeSums(first: run.n).departmentCount)
        try container.close()
        return line
    }
}
