import Foundation
import GRDB

extension EmployeeRow: FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "employee"
    static let department = belongsTo(DepartmentRow.self)

    enum Columns {
        static let id = Column(CodingKeys.id)
        static let name = Column(CodingKeys.name)
        static let salary = Column(CodingKeys.salary)
        static let active = Column(CodingKeys.active)
        static let departmentId = Column(CodingKeys.departmentId)
    }

    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .timeIntervalSinceReferenceDate
    }

    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .timeIntervalSinceReferenceDate
    }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// A department as a GRDB record.
struct DepartmentRow: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "department"
    var id: Int64
    var name: String
}

/// A photo in its own table.
struct PhotoRow: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "photo"

    enum Columns {
        static let employeeId = Column(CodingKeys.employeeId)
    }

    var employeeId: Int64
    var photo: Data
}
