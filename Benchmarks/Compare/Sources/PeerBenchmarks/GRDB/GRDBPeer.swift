import BenchmarkKit
import Foundation
import GRDB

/// GRDB with its defaults and Codable records, as in its guides.
final class GRDBPeer: IndexingPeer, Sendable {
    static let name = "grdb-record"
    static let settings =
        "GRDB 7.10.0 on the system's SQLite, DatabasePool with its default configuration (WAL, synchronous=NORMAL, page "
        + "cache of 2 MB) but for 8 readers, foreign keys checked, Codable records, dates as numbers; photos in a table of their own"
    static let syncsUsually = false

    static func logByteCount(in folder: StoreFolder) -> Int { SQLitePeer.logByteCount(in: folder) }

    let pool: DatabasePool

    init(_ folder: StoreFolder, _ durability: PeerDurability) throws {
        try folder.make()
        var configuration = Configuration()
        // The default is 5, and eight threads search at once.
        configuration.maximumReaderCount = 8
        pool = try DatabasePool(path: "\(folder.path)/\(SQLiteSchema.fileName)", configuration: configuration)
        if durability == .full {
            try pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                let level = try Int.fetchOne(database, sql: "PRAGMA synchronous")
                try check("level of synchronous", level, is: 2)
            }
        }
    }

    func close() throws { try pool.close() }

    func create() throws {
        try pool.write { database in
            for text in SQLiteSchema.statements { try database.execute(sql: text) }
            for number in 1...100 {
                try DepartmentRow(id: Int64(number), name: EmployeeMaker.departmentName(number)).insert(database)
            }
        }
    }

    // MARK: Inserting

    func insert(_ employees: [EmployeeRow]) throws {
        try pool.write { database in
            for var row in employees { try row.insert(database) }
        }
    }

    func insert(_ employees: [PhotographedRow]) throws {
        try pool.write { database in
            for row in employees {
                var employee = row.employee
                try employee.insert(database)
                guard let id = employee.id else { throw BenchmarkError(.wrongResult, "no number was given") }
                try PhotoRow(employeeId: id, photo: row.photo).insert(database)
            }
        }
    }

    // MARK: Reading

    func read(_ ids: [Int]) throws -> (salary: Double, byteCount: Int) {
        try pool.read { database in
            var salary = 0.0
            var byteCount = 0
            for id in ids {
                let row = try EmployeeRow.find(database, key: id)
                byteCount += row.name.utf8.count
                salary += row.salary
            }
            return (salary, byteCount)
        }
    }

    func find(_ emails: [String], _ body: (EmployeeRow) throws -> Void) throws {
        try pool.read { database in
            for email in emails { try body(EmployeeRow.find(database, key: ["email": email])) }
        }
    }

    func wellPaidCount() throws -> Int {
        try pool.read { database in
            try EmployeeRow.filter { $0.salary > 120_000 && $0.active }.fetchCount(database)
        }
    }

    func walk(_ body: (EmployeeRow) throws -> Void) throws {
        try pool.read { database in
            let rows = try EmployeeRow.fetchCursor(database)
            while let row = try rows.next() { try body(row) }
        }
    }

    func memberCount(of department: Int) throws -> Int {
        try pool.read { database in
            try EmployeeRow.filter { $0.departmentId == department }.fetchCount(database)
        }
    }

    func walkMembers(of department: Int, _ body: (EmployeeRow) throws -> Void) throws {
        try pool.read { database in
            let rows = try EmployeeRow.filter { $0.departmentId == department }.fetchCursor(database)
            while let row = try rows.next() { try body(row) }
        }
    }

    func readDepartmentNames(of ids: [Int]) throws -> Int {
        try pool.read { database in
            var byteCount = 0
            for id in ids {
                let row = try EmployeeRow.find(database, key: id)
                guard let department = try row.request(for: EmployeeRow.department).fetchOne(database) else {
                    throw BenchmarkError(.wrongResult, "employee \(id) has no department")
                }
                byteCount += department.name.utf8.count
            }
            return byteCount
        }
    }

    func firstByName(_ count: Int) throws -> [EmployeeRow] {
        try pool.read { database in try EmployeeRow.order(\.name).limit(count).fetchAll(database) }
    }

    func names() throws -> [String] {
        try pool.read { database in
            try EmployeeRow.order(\.id).select(\.name, as: String.self).fetchAll(database)
        }
    }

    func sumOfPhotos() throws -> (sum: UInt64, byteCount: Int) {
        try pool.read { database in
            var sum: UInt64 = 0
            var byteCount = 0
            let rows = try PhotoRow.order(\.employeeId).fetchCursor(database)
            while let row = try rows.next() {
                row.photo.withUnsafeBytes { sum &+= Photo.sum($0) }
                byteCount += row.photo.count
            }
            return (sum, byteCount)
        }
    }

    // MARK: Changing

    func setSalaries(_ ids: ArraySlice<Int>, _ salaries: ArraySlice<Double>) throws {
        try pool.write { database in
            for (id, salary) in zip(ids, salaries) {
                var row = try EmployeeRow.find(database, key: id)
                try row.updateChanges(database) { $0.salary = salary }
            }
        }
    }

    func apply(_ changes: [EmployeeChange]) throws {
        try pool.write { database in
            for change in changes {
                var row = try EmployeeRow.find(database, key: change.id)
                try row.updateChanges(database) {
                    $0.salary = change.salary
                    $0.notes = change.notes
                }
            }
        }
    }

    func deleteDepartment(_ number: Int) throws {
        try pool.write { database in _ = try DepartmentRow.deleteOne(database, key: number) }
    }

    func indexNames() throws {
        try pool.write { database in try database.execute(sql: SQLiteSchema.nameIndex) }
    }

    // MARK: Space

    func settle() throws {
        try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    }

    func compact() throws {
        try pool.vacuum()
        try settle()
    }
}
