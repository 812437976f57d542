import BenchmarkKit
import Foundation

/// An employee, with values of types that are usual in an app.
struct EmployeeRow: Codable, Sendable {
    enum CodingKeys: String, CodingKey {
        case id, name, email, salary, hireDate, active, level, notes, departmentId
    }

    /// Assigned by the store; nil before.
    var id: Int64?
    var name: String
    var email: String
    var salary: Double
    var hireDate: Date
    var active: Bool
    var level: Int
    var notes: String
    /// 1 to 100.
    var departmentId: Int64

    init(
        id: Int64?,
        name: String,
        email: String,
        salary: Double,
        hireDate: Date,
        active: Bool,
        level: Int,
        notes: String,
        departmentId: Int64
    ) {
        self.id = id
        self.name = name
        self.email = email
        self.salary = salary
        self.hireDate = hireDate
        self.active = active
        self.level = level
        self.notes = notes
        self.departmentId = departmentId
    }

    init(_ values: EmployeeValues) {
        self.init(
            id: nil,
            name: values.name,
            email: values.email,
            salary: values.salary,
            hireDate: Date(timeIntervalSinceReferenceDate: values.hireDate),
            active: values.isActive,
            level: values.level,
            notes: values.notes,
            departmentId: Int64(values.department)
        )
    }

    /// The employees with these numbers.
    static func rows(_ ids: Range<Int>, _ maker: EmployeeMaker) -> [EmployeeRow] {
        ids.map { EmployeeRow(maker.employee($0)) }
    }
}

/// An employee and its photo.
struct PhotographedRow: Sendable {
    var employee: EmployeeRow
    var photo: Data
}

extension EmployeeSums {
    @inline(__always)
    mutating func add(_ row: EmployeeRow) {
        add(
            salary: row.salary,
            hireDate: row.hireDate.timeIntervalSinceReferenceDate,
            level: row.level,
            isActive: row.active,
            byteCount: row.name.utf8.count + row.email.utf8.count + row.notes.utf8.count,
            isInDepartment42: row.departmentId == 42
        )
    }
}
