import Faultline

typealias BenchmarkedEmployee = Employee

/// The employees as the benchmarks create them.
enum WholeNames: VersionedSchema {
    // Named here, because the other version's own classes shadow these inside it.
    typealias Employee = BenchmarkedEmployee

    static let models: [any PersistentModel.Type] = [BenchmarkedEmployee.self, Department.self]
    static let versionIdentifier = Schema.Version(1, 0, 0)
}

/// The employees with their names in two parts.
enum SplitNames: VersionedSchema {
    static let models: [any PersistentModel.Type] = [SplitNames.Employee.self, SplitNames.Department.self]
    static let versionIdentifier = Schema.Version(2, 0, 0)

    @Model
    final class Department {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \SplitNames.Employee.department)
        var employees: [SplitNames.Employee] = []

        init(name: String) {
            self.name = name
        }
    }

    @Model
    final class Employee: SplitEmployee {
        var firstName: String
        var lastName: String
        @Attribute(.unique) var email: String
        var salary: Double
        var hireDate: Date
        var active: Bool
        var level: Int
        var notes: String
        var department: SplitNames.Department?

        init(of old: WholeNames.Employee, department: SplitNames.Department?) {
            let parts = old.name.split(separator: " ", maxSplits: 1)
            firstName = parts.first.map(String.init) ?? ""
            lastName = parts.count > 1 ? String(parts[1]) : ""
            email = old.email
            salary = old.salary
            hireDate = old.hireDate
            active = old.active
            level = old.level
            notes = old.notes
            self.department = department
        }
    }
}

/// Splits whole names, by Swift code for each employee.
enum SplittingPlan: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [WholeNames.self, SplitNames.self]
    static let stages: [MigrationStage] = [
        .streamed(
            fromVersion: WholeNames.self,
            toVersion: SplitNames.self,
            StreamedEntity(Employee.self) { old, output in
                let department = try output.object(migratedFrom: old.department, as: SplitNames.Department.self)
                try output.insert(SplitNames.Employee(of: old, department: department))
            }
        )
    ]
}
