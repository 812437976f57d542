import Faultline
import Synchronization

/// The employees with their whole names and, once they are filled in, the two parts.
enum BothNames: VersionedSchema {
    static let models: [any PersistentModel.Type] = [BothNames.Employee.self, BothNames.Department.self]
    static let versionIdentifier = Schema.Version(2, 0, 0)

    @Model
    final class Department {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \BothNames.Employee.department)
        var employees: [BothNames.Employee] = []

        init(name: String) {
            self.name = name
        }
    }

    @Model
    final class Employee {
        var name: String
        var firstName: String = ""
        var lastName: String = ""
        @Attribute(.unique) var email: String
        var salary: Double
        var hireDate: Date
        var active: Bool
        var level: Int
        var notes: String
        var department: BothNames.Department?

        init(name: String, email: String, salary: Double, hireDate: Date, active: Bool, level: Int, notes: String) {
            self.name = name
            self.email = email
            self.salary = salary
            self.hireDate = hireDate
            self.active = active
            self.level = level
            self.notes = notes
        }
    }
}

/// The employees without their whole names.
enum PartedNames: VersionedSchema {
    static let models: [any PersistentModel.Type] = [PartedNames.Employee.self, PartedNames.Department.self]
    static let versionIdentifier = Schema.Version(3, 0, 0)

    @Model
    final class Department {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \PartedNames.Employee.department)
        var employees: [PartedNames.Employee] = []

        init(name: String) {
            self.name = name
        }
    }

    @Model
    final class Employee: SplitEmployee {
        var firstName: String = ""
        var lastName: String = ""
        @Attribute(.unique) var email: String
        var salary: Double
        var hireDate: Date
        var active: Bool
        var level: Int
        var notes: String
        var department: PartedNames.Department?

        init(email: String, salary: Double, hireDate: Date, active: Bool, level: Int, notes: String) {
            self.email = email
            self.salary = salary
            self.hireDate = hireDate
            self.active = active
            self.level = level
            self.notes = notes
        }
    }
}

/// Splits names as is usual with SwiftData: all employees in one array, saved once, then the old name is removed.
enum StagingPlan: SchemaMigrationPlan {
    /// The number of objects that the closure held at once: their memory is the closure's, not the engine's.
    static var objectsRetained: Int { retained.load(ordering: .relaxed) }
    private static let retained = Atomic(0)

    static let schemas: [any VersionedSchema.Type] = [WholeNames.self, BothNames.self, PartedNames.self]
    static let stages: [MigrationStage] = [
        .custom(
            fromVersion: WholeNames.self,
            toVersion: BothNames.self,
            willMigrate: nil,
            didMigrate: { context in
                let employees = try context.fetch(FetchDescriptor<BothNames.Employee>())
                retained.store(employees.count, ordering: .relaxed)
                for employee in employees {
                    let parts = employee.name.split(separator: " ", maxSplits: 1)
                    employee.firstName = parts.first.map(String.init) ?? ""
                    employee.lastName = parts.count > 1 ? String(parts[1]) : ""
                }
                try context.save()
            }
        ),
        .lightweight(fromVersion: BothNames.self, toVersion: PartedNames.self),
    ]
}
