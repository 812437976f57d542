import BenchmarkKit
import Faultline

/// The employees with an index of their names, and nothing else changed.
enum NamedEmployees: VersionedSchema {
    static let models: [any PersistentModel.Type] = [NamedEmployees.Employee.self, NamedEmployees.Department.self]
    static let versionIdentifier = Schema.Version(1, 1, 0)

    @Model
    final class Department {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \NamedEmployees.Employee.department)
        var employees: [NamedEmployees.Employee] = []

        init(name: String) {
            self.name = name
        }
    }

    @Model
    final class Employee {
        #Index<NamedEmployees.Employee>([\.name])

        var name: String
        @Attribute(.unique) var email: String
        var salary: Double
        var hireDate: Date
        var active: Bool
        var level: Int
        var notes: String
        var department: NamedEmployees.Department?

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

    /// Opens a store of employees; adds the index before this returns if the store lacks it.
    static func open(_ folder: StoreFolder, budgetMiB: Int? = nil) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: NamedEmployees.self),
            configurations: EmployeeStore.configuration(folder, budgetMiB: budgetMiB)
        )
    }
}

extension EmployeeStore {
    /// The full store with the index of names.
    static let named = StartingStore("named-1") { folder, count in
        try filled(folder, count).close()
        try NamedEmployees.open(folder).close()
    }
}
