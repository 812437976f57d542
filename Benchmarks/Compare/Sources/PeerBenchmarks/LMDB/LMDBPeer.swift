import BenchmarkKit
import CLMDB
import Foundation

/// LMDB through its C interface: default flags, integer keys, ascending numbers appended.
final class LMDBPeer: Peer {
    static let name = "lmdb"
    static let settings =
        "LMDB, default flags (each commit waits for the disk), map of 16 GiB, integer keys, MDB_APPEND, records in a "
        + "layout made by hand; no schema, no checks of relationships"
    static let syncsUsually = true

    static func logByteCount(in folder: StoreFolder) -> Int { 0 }

    private let folder: StoreFolder
    private var environment: LMDBEnvironment
    private var buffer: [UInt8] = []

    init(_ folder: StoreFolder, _ durability: PeerDurability) throws {
        self.folder = folder
        try folder.make()
        environment = try LMDBEnvironment(folder.path)
    }

    func close() throws { environment.close() }

    func create() throws {
        try environment.write { transaction in
            for number in 1...100 {
                let name = Array(EmployeeMaker.departmentName(number).utf8)
                try transaction.put(environment.departments, UInt(number), name, MDB_APPEND)
            }
        }
    }

    // MARK: Inserting

    func insert(_ employees: [EmployeeRow]) throws {
        try environment.write { transaction in
            var id = try transaction.lastKey(environment.employees)
            for row in employees {
                id += 1
                try insert(row, id, transaction)
            }
        }
    }

    func insert(_ employees: [PhotographedRow]) throws {
        try environment.write { transaction in
            var id = try transaction.lastKey(environment.employees)
            for row in employees {
                id += 1
                try insert(row.employee, id, transaction)
                try row.photo.withUnsafeBytes { photo in
                    try transaction.put(environment.photos, id, photo, MDB_APPEND)
                }
            }
        }
    }

    private func insert(_ row: EmployeeRow, _ id: UInt, _ transaction: LMDBTransaction) throws {
        var email = row.email
        try email.withUTF8 { email in
            try transaction.putNew(environment.emails, UnsafeRawBufferPointer(email), id)
        }
        EmployeeBytes.encode(row, into: &buffer)
        try transaction.put(environment.employees, id, buffer, MDB_APPEND)
        try transaction.put(environment.members, UInt(row.departmentId), id)
    }

    // MARK: Reading

    func read(_ ids: [Int]) throws -> (salary: Double, byteCount: Int) {
        try environment.read { transaction in
            var salary = 0.0
            var byteCount = 0
            for id in ids {
                let employee = try EmployeeBytes(transaction.get(environment.employees, UInt(id)))
                byteCount += employee.name.utf8.count
                salary += employee.salary
            }
            return (salary, byteCount)
        }
    }

    func find(_ emails: [String], _ body: (EmployeeRow) throws -> Void) throws {
        try environment.read { transaction in
            for email in emails {
                var email = email
                let id = try email.withUTF8 { email in
                    try transaction.number(environment.emails, UnsafeRawBufferPointer(email))
                }
                try body(EmployeeBytes(transaction.get(environment.employees, id)).row(Int64(id)))
            }
        }
    }

    func wellPaidCount() throws -> Int {
        try environment.read { transaction in
            var count = 0
            try transaction.walk(environment.employees) { _, bytes in
                let employee = try EmployeeBytes(bytes)
                if employee.isActive && employee.salary > 120_000 { count += 1 }
            }
            return count
        }
    }

    func walk(_ body: (EmployeeRow) throws -> Void) throws {
        try environment.read { transaction in
            try transaction.walk(environment.employees) { id, bytes in try body(EmployeeBytes(bytes).row(Int64(id))) }
        }
    }

    func memberCount(of department: Int) throws -> Int {
        try environment.read { try $0.duplicateCount(environment.members, UInt(department)) }
    }

    func walkMembers(of department: Int, _ body: (EmployeeRow) throws -> Void) throws {
        try environment.read { transaction in
            try transaction.walkNumbers(environment.members, UInt(department)) { id in
                try body(EmployeeBytes(transaction.get(environment.employees, id)).row(Int64(id)))
            }
        }
    }

    func readDepartmentNames(of ids: [Int]) throws -> Int {
        try environment.read { transaction in
            var byteCount = 0
            for id in ids {
                let employee = try EmployeeBytes(transaction.get(environment.employees, UInt(id)))
                let name = try transaction.get(environment.departments, UInt(employee.departmentNumber))
                byteCount += String(decoding: name, as: UTF8.self).utf8.count
            }
            return byteCount
        }
    }

    func firstByName(_ count: Int) throws -> [EmployeeRow] {
        try environment.read { transaction in
            var first = FirstRows(count)
            try transaction.walk(environment.employees) { id, bytes in
                first.add(try EmployeeBytes(bytes), Int64(id))
            }
            return first.rows
        }
    }

    func names() throws -> [String] {
        try environment.read { transaction in
            var names: [String] = []
            try transaction.walk(environment.employees) { _, bytes in names.append(try EmployeeBytes(bytes).name) }
            return names
        }
    }

    func sumOfPhotos() throws -> (sum: UInt64, byteCount: Int) {
        try environment.read { transaction in
            var sum: UInt64 = 0
            var byteCount = 0
            try transaction.walk(environment.photos) { _, photo in
                sum &+= Photo.sum(photo)
                byteCount += photo.count
            }
            return (sum, byteCount)
        }
    }

    // MARK: Changing

    func setSalaries(_ ids: ArraySlice<Int>, _ salaries: ArraySlice<Double>) throws {
        try environment.write { transaction in
            for (id, salary) in zip(ids, salaries) {
                try EmployeeBytes(transaction.get(environment.employees, UInt(id))).copy(into: &buffer, salary: salary)
                try transaction.put(environment.employees, UInt(id), buffer, 0)
            }
        }
    }

    func apply(_ changes: [EmployeeChange]) throws {
        try environment.write { transaction in
            for change in changes {
                let employee = try EmployeeBytes(transaction.get(environment.employees, UInt(change.id)))
                employee.copy(into: &buffer, salary: change.salary, notes: change.notes)
                try transaction.put(environment.employees, UInt(change.id), buffer, 0)
            }
        }
    }

    func deleteDepartment(_ number: Int) throws {
        try environment.write { transaction in
            var ids: [UInt] = []
            try transaction.walkNumbers(environment.members, UInt(number)) { ids.append($0) }
            for id in ids {
                let employee = try EmployeeBytes(transaction.get(environment.employees, id))
                try transaction.delete(environment.emails, employee.emailBytes)
                try transaction.delete(environment.employees, id)
            }
            try transaction.delete(environment.members, UInt(number))
            try transaction.delete(environment.departments, UInt(number))
        }
    }

    // MARK: Space

    func settle() throws {}

    /// Copies the live data into a new file, which replaces the old one.
    func compact() throws {
        let copy = StoreFolder(folder.path + "/copy")
        try copy.make()
        try environment.copy(to: copy.path)
        environment.close()
        let (from, to) = (copy.path + "/data.mdb", folder.path + "/data.mdb")
        guard rename(from, to) == 0 else { throw BenchmarkError(.storage, "\(from): cannot take the old file's place") }
        try copy.remove()
        environment = try LMDBEnvironment(folder.path)
    }
}
