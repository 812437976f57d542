import BenchmarkKit
import Faultline

/// An employee's values in the types of its model, made before the clock runs.
struct EmployeeRecord {
    let name: String
    let email: String
    let salary: Double
    let hireDate: Date
    let active: Bool
    let level: Int
    let notes: String
    /// 1 to 100.
    let department: Int

    init(_ values: EmployeeValues) {
        name = values.name
        email = values.email
        salary = values.salary
        hireDate = Date(timeIntervalSinceReferenceDate: values.hireDate)
        active = values.isActive
        level = values.level
        notes = values.notes
        department = values.department
    }
}
