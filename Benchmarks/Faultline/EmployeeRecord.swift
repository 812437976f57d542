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

/// What employees 1 to `count` add up to: what a workload must have read.
struct EmployeeSums: Equatable {
    var count = 0
    /// Added in the order of creation.
    var salary = 0.0
    var hireDate = 0.0
    var level = 0
    var activeCount = 0
    var byteCount = 0
    /// Active, with a salary above 120,000.
    var wellPaidCount = 0
    /// In department 42.
    var departmentCount = 0

    init() {}

    /// Adds up employees 1 to `count`.
    init(first count: Int) {
        let maker = EmployeeMaker()
        for id in 1...max(count, 1) where id <= count {
            let values = maker.employee(id)
            self.count += 1
            salary += values.salary
            hireDate += values.hireDate
            level += values.level
            activeCount += values.isActive ? 1 : 0
            byteCount += 120
            wellPaidCount += values.isActive && values.salary > 120_000 ? 1 : 0
            departmentCount += values.department == 42 ? 1 : 0
        }
    }
}
