import Faultline

/// The employees with a bonus, and their level under another name.
enum GradedEmployees: VersionedSchema {
    static let models: [any PersistentModel.Type] = [GradedEmployees.Employee.self, GradedEmployees.Department.self]
    static let versionIdentifier = Schema.Version(2, 0, 0)

    @Model
    final class Department {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \GradedEmployees.Employee.department)
        var employees: [GradedEmployees.Employee] = []

        init(name: String) {
            self.name = name
        }
    }

    @Model
    final class Employee {
        var name: String
        @Attribute(.unique) var email: String
        var salary: Double
        var hireDate: Date
        var active: Bool
        @Attribute(originalName: "level") var grade: Int
        var notes: String
        var bonus: Double = 0
        var department: GradedEmployees.Department?

        init(name: String, email: String, salary: Double, hireDate: Date, active: Bool, grade: Int, notes: String) {
            self.name = name
            self.email = email
            self.salary = salary
            self.hireDate = hireDate
            self.active = active
            self.grade = grade
            self.notes = notes
        }
    }
}

/// Adds an attribute and renames another: no object is written.
enum GradingPlan: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [WholeNames.self, GradedEmployees.self]
    static let stages: [MigrationStage] = [
        .lightweight(fromVersion: WholeNames.self, toVersion: GradedEmployees.self)
    ]
}
