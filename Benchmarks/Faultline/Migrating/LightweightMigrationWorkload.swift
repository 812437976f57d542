import BenchmarkKit
import Faultline

extension Workload {
    /// `migrate-light`: opens the store under a version with one attribute more and another renamed, and reads one
    /// object.
    static let migrateLight = grading("migrate-light", by: GradingPlan.self, rewrites: false)
    /// `w9a`: the same, under the peers' name.
    static let w9a = grading("w9a", by: GradingPlan.self, rewrites: false)
    /// `migrate-values`: the same change by a mapping without code, which writes each object again.
    static let migrateValues = grading("migrate-values", by: ValueMappingPlan.self, rewrites: true)
    /// `migrate-values-policy`: the same by a policy that overrides nothing.
    static let migrateValuesPolicy = grading("migrate-values-policy", by: PlainPolicyPlan.self, rewrites: true)

    private static func grading(_ name: String, by plan: any SchemaMigrationPlan.Type, rewrites: Bool) -> Workload {
        Workload(name, defaultCount: 1_000_000, start: .changing(EmployeeStore.full)) { run in
            let configuration = EmployeeStore.configuration(run.store, ceilingMiB: run.budgetMiB)
            let measurement = WorkloadMeasurement(store: run.store)
            measurement.begin()
            measurement.resume()
            let container = try ModelContainer(
                for: Schema(versionedSchema: GradedEmployees.self),
                migrationPlan: plan,
                configurations: configuration
            )
            let context = ModelContext(container)
            var first = FetchDescriptor<GradedEmployees.Employee>()
            first.fetchLimit = 1
            let found = try context.fetch(first).map { "\($0.name) \($0.grade) \($0.bonus)" }
            measurement.end()
            let maker = EmployeeMaker()
            let employee = maker.employee(1)
            try check("first employee", found, is: ["\(employee.name) \(employee.level) 0.0"])
            try check("objects written", container.migrationReport.objectsWritten, is: rewrites ? run.n : 0)
            var line = measurement.line(workload: name, n: run.n, operations: run.n)
            line.blobBytesRead = container.migrationReport.blobBytesRead

            var sums = EmployeeSums()
            let departments = try context.fetch(FetchDescriptor<GradedEmployees.Department>())
            try check("departments", departments.count, is: EmployeeStore.departmentCount)
            try context.enumerate(FetchDescriptor<GradedEmployees.Employee>()) { employee in
                sums.add(
                    salary: employee.salary,
                    hireDate: employee.hireDate.timeIntervalSinceReferenceDate,
                    level: employee.grade,
                    isActive: employee.active,
                    byteCount: employee.name.utf8.count + employee.email.utf8.count + employee.notes.utf8.count,
                    isInDepartment42: employee.department === departments[41]
                )
                try check("bonus", employee.bonus, is: 0)
            }
            try check("sums", sums, is: EmployeeSums(first: run.n))
            try container.close()
            return line
        }
    }
}
