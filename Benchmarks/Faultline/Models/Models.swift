import Faultline

/// A department; deleting it deletes its employees.
@Model
final class Department {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Employee.department) var employees: [Employee] = []

    init(name: String) {
        self.name = name
    }
}

/// An employee, as the workloads define it.
@Model
final class Employee {
    var name: String
    @Attribute(.unique) var email: String
    var salary: Double
    var hireDate: Date
    var active: Bool
    var level: Int
    var notes: String
    var department: Department?

    init(
        name: String,
        email: String,
        salary: Double,
        hireDate: Date,
        active: Bool,
        level: Int,
        notes: String,
        department: Department?
    ) {
        self.name = name
        self.email = email
        self.salary = salary
        self.hireDate = hireDate
        self.active = active
        self.level = level
        self.notes = notes
        self.department = department
    }
}

extension Employee {
    /// Makes an employee from its values.
    convenience init(_ values: EmployeeRecord, department: Department?) {
        self.init(
            name: values.name,
            email: values.email,
            salary: values.salary,
            hireDate: values.hireDate,
            active: values.active,
            level: values.level,
            notes: values.notes,
            department: department
        )
    }
}
