import BenchmarkKit
import Foundation
import GRDBSQLite

/// SQLite through its C interface: every statement prepared once, values bound in place.
final class SQLitePeer: IndexingPeer {
    static let name = "sqlite-prepared"
    static let settings =
        "the system's SQLite, C interface, prepared statements, one connection without mutex, WAL, synchronous=NORMAL, "
        + "page cache of 64 MiB, foreign keys checked; photos in a table of their own"
    static let syncsUsually = false

    static func logByteCount(in folder: StoreFolder) -> Int {
        StoreFolder("\(folder.path)/\(SQLiteSchema.fileName)-wal").diskByteCount
    }

    private let database: OpaquePointer
    private var statements: [SQLiteStatement?]

    /// The prepared statements, each prepared on first use.
    private enum Text: Int, CaseIterable {
        case begin, commit, rollback, beginReading
        case insertEmployee, insertPhoto
        case nameAndSalary, byEmail, wellPaidCount, all, memberCount, names, photos
        case members, departmentName, firstByName
        case setSalary, setSalaryAndNotes, deleteDepartment

        var sql: String {
            switch self {
            case .begin: "BEGIN IMMEDIATE"
            case .commit: "COMMIT"
            case .rollback: "ROLLBACK"
            case .beginReading: "BEGIN"
            case .insertEmployee:
                """
                INSERT INTO employee (name, email, salary, hireDate, active, level, notes, departmentId)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """
            case .insertPhoto: "INSERT INTO photo (employeeId, photo) VALUES (?, ?)"
            case .nameAndSalary: "SELECT name, salary FROM employee WHERE id = ?"
            case .byEmail: "\(Text.all.sql) WHERE email = ?"
            case .wellPaidCount: SQLiteSchema.wellPaidCount
            case .all: "SELECT id, name, email, salary, hireDate, active, level, notes, departmentId FROM employee"
            case .memberCount: SQLiteSchema.memberCount
            case .names: "SELECT name FROM employee ORDER BY id"
            case .photos: "SELECT photo FROM photo ORDER BY employeeId"
            case .members: "\(Text.all.sql) WHERE departmentId = ?"
            case .departmentName:
                "SELECT department.name FROM employee JOIN department ON department.id = departmentId WHERE employee.id = ?"
            case .firstByName: "\(Text.all.sql) ORDER BY name LIMIT ?"
            case .deleteDepartment: "DELETE FROM department WHERE id = ?"
            case .setSalary: "UPDATE employee SET salary = ? WHERE id = ?"
            case .setSalaryAndNotes: "UPDATE employee SET salary = ?, notes = ? WHERE id = ?"
            }
        }
    }

    init(_ folder: StoreFolder, _ durability: PeerDurability) throws {
        try folder.make()
        let path = "\(folder.path)/\(SQLiteSchema.fileName)"
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        try SQLiteStatement.check(sqlite3_open_v2(path, &opened, flags, nil), path)
        guard let opened else { throw BenchmarkError(.storage, "\(path): cannot open") }
        database = opened
        statements = Text.allCases.map { _ in nil }
        try run("PRAGMA journal_mode = WAL")
        try run("PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL")")
        try run("PRAGMA cache_size = -65536")
        try run("PRAGMA foreign_keys = ON")
    }

    func close() throws {
        statements = []
        try SQLiteStatement.check(sqlite3_close(database), "closing")
    }

    func create() throws {
        for text in SQLiteSchema.statements { try run(text) }
        try insertDepartments()
    }

    func insertDepartments() throws {
        try transaction {
            for number in 1...100 {
                try run("INSERT INTO department VALUES (\(number), '\(EmployeeMaker.departmentName(number))')")
            }
        }
    }

    func run(_ text: String) throws { try statement(text).run() }

    /// A statement that is not kept.
    func statement(_ text: String) throws -> SQLiteStatement { try SQLiteStatement(database, text) }

    private func prepared(_ text: Text) throws -> SQLiteStatement {
        if let statement = statements[text.rawValue] { return statement }
        let statement = try SQLiteStatement(database, text.sql)
        statements[text.rawValue] = statement
        return statement
    }

    func transaction<R>(_ body: () throws -> R) throws -> R { try transaction(.begin, body) }

    private func transaction<R>(_ start: Text, _ body: () throws -> R) throws -> R {
        try prepared(start).run()
        do {
            let result = try body()
            try prepared(.commit).run()
            return result
        } catch {
            try? prepared(.rollback).run()
            throw error
        }
    }

    // MARK: Inserting

    func insert(_ employees: [EmployeeRow]) throws {
        let statement = try prepared(.insertEmployee)
        try transaction {
            for row in employees { try Self.insert(row, statement) }
        }
    }

    func insert(_ employees: [PhotographedRow]) throws {
        let statement = try prepared(.insertEmployee)
        let photos = try prepared(.insertPhoto)
        try transaction {
            for row in employees {
                try Self.insert(row.employee, statement)
                photos.bind(1, sqlite3_last_insert_rowid(database))
                try row.photo.withUnsafeBytes { photo in
                    photos.bind(2, photo)
                    try photos.run()
                }
            }
        }
    }

    static func insert(_ row: EmployeeRow, _ statement: SQLiteStatement) throws {
        var (name, email, notes) = (row.name, row.email, row.notes)
        statement.bind(3, row.salary)
        statement.bind(4, row.hireDate.timeIntervalSinceReferenceDate)
        statement.bind(5, Int64(row.active ? 1 : 0))
        statement.bind(6, Int64(row.level))
        statement.bind(8, row.departmentId)
        try name.withUTF8 { name in
            try email.withUTF8 { email in
                try notes.withUTF8 { notes in
                    statement.bind(1, name)
                    statement.bind(2, email)
                    statement.bind(7, notes)
                    try statement.run()
                }
            }
        }
    }

    // MARK: Reading

    func read(_ ids: [Int]) throws -> (salary: Double, byteCount: Int) {
        let statement = try prepared(.nameAndSalary)
        return try transaction(.beginReading) {
            var salary = 0.0
            var byteCount = 0
            for id in ids {
                statement.bind(1, Int64(id))
                guard try statement.step() else { throw BenchmarkError(.wrongResult, "there is no employee \(id)") }
                byteCount += statement.text(0).utf8.count
                salary += statement.double(1)
                statement.reset()
            }
            return (salary, byteCount)
        }
    }

    func find(_ emails: [String], _ body: (EmployeeRow) throws -> Void) throws {
        let statement = try prepared(.byEmail)
        try transaction(.beginReading) {
            for email in emails {
                var email = email
                try email.withUTF8 { email in
                    statement.bind(1, email)
                    guard try statement.step() else { throw BenchmarkError(.wrongResult, "an e-mail has no employee") }
                    try body(Self.row(statement))
                    statement.reset()
                }
            }
        }
    }

    @inline(__always)
    private static func row(_ statement: SQLiteStatement) -> EmployeeRow {
        EmployeeRow(
            id: statement.integer(0),
            name: statement.text(1),
            email: statement.text(2),
            salary: statement.double(3),
            hireDate: Date(timeIntervalSinceReferenceDate: statement.double(4)),
            active: statement.integer(5) != 0,
            level: Int(statement.integer(6)),
            notes: statement.text(7),
            departmentId: statement.integer(8)
        )
    }

    private func number(_ text: Text, _ argument: Int64? = nil) throws -> Int {
        let statement = try prepared(text)
        if let argument { statement.bind(1, argument) }
        defer { statement.reset() }
        guard try statement.step() else { throw BenchmarkError(.wrongResult, "no row for \(text.sql)") }
        return Int(statement.integer(0))
    }

    func wellPaidCount() throws -> Int { try number(.wellPaidCount) }

    func memberCount(of department: Int) throws -> Int { try number(.memberCount, Int64(department)) }

    func walk(_ body: (EmployeeRow) throws -> Void) throws {
        let statement = try prepared(.all)
        defer { statement.reset() }
        while try statement.step() { try body(Self.row(statement)) }
    }

    func walkMembers(of department: Int, _ body: (EmployeeRow) throws -> Void) throws {
        let statement = try prepared(.members)
        statement.bind(1, Int64(department))
        defer { statement.reset() }
        while try statement.step() { try body(Self.row(statement)) }
    }

    func readDepartmentNames(of ids: [Int]) throws -> Int {
        let statement = try prepared(.departmentName)
        return try transaction(.beginReading) {
            var byteCount = 0
            for id in ids {
                statement.bind(1, Int64(id))
                guard try statement.step() else { throw BenchmarkError(.wrongResult, "there is no employee \(id)") }
                byteCount += statement.text(0).utf8.count
                statement.reset()
            }
            return byteCount
        }
    }

    func firstByName(_ count: Int) throws -> [EmployeeRow] {
        let statement = try prepared(.firstByName)
        statement.bind(1, Int64(count))
        defer { statement.reset() }
        var rows: [EmployeeRow] = []
        while try statement.step() { rows.append(Self.row(statement)) }
        return rows
    }

    func names() throws -> [String] {
        let statement = try prepared(.names)
        defer { statement.reset() }
        var names: [String] = []
        while try statement.step() { names.append(statement.text(0)) }
        return names
    }

    func sumOfPhotos() throws -> (sum: UInt64, byteCount: Int) {
        let statement = try prepared(.photos)
        defer { statement.reset() }
        var sum: UInt64 = 0
        var byteCount = 0
        while try statement.step() {
            let photo = statement.bytes(0)
            sum &+= Photo.sum(photo)
            byteCount += photo.count
        }
        return (sum, byteCount)
    }

    // MARK: Changing

    func setSalaries(_ ids: ArraySlice<Int>, _ salaries: ArraySlice<Double>) throws {
        let statement = try prepared(.setSalary)
        try transaction {
            for (id, salary) in zip(ids, salaries) {
                statement.bind(1, salary)
                statement.bind(2, Int64(id))
                try statement.run()
            }
        }
    }

    func apply(_ changes: [EmployeeChange]) throws {
        let statement = try prepared(.setSalaryAndNotes)
        try transaction {
            for change in changes {
                var notes = change.notes
                statement.bind(1, change.salary)
                statement.bind(3, Int64(change.id))
                try notes.withUTF8 { notes in
                    statement.bind(2, notes)
                    try statement.run()
                }
            }
        }
    }

    func deleteDepartment(_ number: Int) throws {
        let statement = try prepared(.deleteDepartment)
        try transaction {
            statement.bind(1, Int64(number))
            try statement.run()
        }
    }

    func indexNames() throws { try run(SQLiteSchema.nameIndex) }

    // MARK: Space

    func settle() throws { try run("PRAGMA wal_checkpoint(TRUNCATE)") }

    func compact() throws {
        try run("VACUUM")
        try settle()
    }
}
