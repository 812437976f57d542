import BenchmarkKit
import Faultline

extension Workload {
    /// `migrate-stream`: opens the store under the new version, which splits all names by a streamed stage, and reads
    /// one object.
    static let migrateStream = splitting("migrate-stream", by: SplittingPlan.self)
    /// `w9b`: the same, under the peers' name.
    static let w9b = splitting("w9b", by: SplittingPlan.self)
    /// `migrate-stream-1`: the same on one thread.
    static let migrateStreamAlone = splitting("migrate-stream-1", by: SplittingPlan.self, workerCount: 1)
    /// `migrate-policy`: the same by an entity migration policy, with its three passes.
    static let migratePolicy = splitting("migrate-policy", by: PolicyPlan.self)
    /// `migrate-made`: the same by a policy that makes the new objects itself, and sets all attributes by key.
    static let migrateMade = splitting("migrate-made", by: MakingPlan.self)
    /// `migrate-mapping`: the same by a mapping with two computed attributes, without a policy.
    static let migrateMapping = splitting("migrate-mapping", by: MappingPlan.self)

    /// `migrate-staged`: the same by the version after the next, whose custom stage splits all names of one array.
    static let migrateStaged = splitting(
        "migrate-staged", to: PartedNames.self, by: StagingPlan.self, PartedNames.Employee.self,
        departments: FetchDescriptor<PartedNames.Department>(), employees: \.employees, department: \.department,
        retained: { StagingPlan.objectsRetained })

    private static func splitting(
        _ name: String, by plan: any SchemaMigrationPlan.Type, workerCount: Int? = nil
    ) -> Workload {
        splitting(
            name, workerCount: workerCount, to: SplitNames.self, by: plan, SplitNames.Employee.self,
            departments: FetchDescriptor<SplitNames.Department>(), employees: \.employees, department: \.department)
    }

    private static func splitting<Version: VersionedSchema, Employee: SplitEmployee, Department: PersistentModel>(
        _ name: String, workerCount: Int? = nil, to version: Version.Type, by plan: any SchemaMigrationPlan.Type,
        _ type: Employee.Type,
        departments descriptor: @autoclosure @escaping @Sendable () -> FetchDescriptor<Department>,
        employees: any KeyPath<Department, [Employee]> & Sendable,
        department: any KeyPath<Employee, Department?> & Sendable, retained: (@Sendable () -> Int)? = nil
    ) -> Workload {
        Workload(name, defaultCount: 1_000_000, start: .changing(EmployeeStore.full)) { run in
            var configuration = EmployeeStore.configuration(run.store, ceilingMiB: run.budgetMiB)
            configuration.options.migration.workerCount = workerCount
            let measurement = WorkloadMeasurement(store: run.store)
            measurement.begin()
            measurement.resume()
            let container = try ModelContainer(
                for: Schema(versionedSchema: version), migrationPlan: plan, configurations: configuration)
            let context = ModelContext(container)
            var first = FetchDescriptor<Employee>()
            first.fetchLimit = 1
            let found = try context.fetch(first).map { "\($0.firstName) \($0.lastName)" }
            measurement.end()
            try check("first name", found, is: [EmployeeMaker().employee(1).name])
            try check("objects written", container.migrationReport.objectsWritten, is: run.n)
            var line = measurement.line(workload: name, n: run.n, operations: run.n)
            line.blobBytesRead = container.migrationReport.blobBytesRead
            line.objectsRetained = retained?()

            let departments = try context.fetch(descriptor())
            try check("departments", departments.count, is: EmployeeStore.departmentCount)
            try checkSplitNames(in: context, type, count: run.n) { $0[keyPath: department] === departments[41] }
            try check(
                "employees of department 42", departments[41][keyPath: employees].count,
                is: EmployeeSums(first: run.n).departmentCount)
            try container.close()
            return line
        }
    }
}
