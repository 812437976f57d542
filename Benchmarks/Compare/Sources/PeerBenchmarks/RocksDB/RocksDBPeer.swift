import BenchmarkKit
import Foundation

/// RocksDB through its C interface.
final class RocksDBPeer: Peer {
    static let name = "rocksdb"
    static let settings =
        "RocksDB, one column family, block cache of 64 MiB, Bloom filter of 10 bits, LZ4, WAL with sync=false, blob files "
        + "from 4 KiB, two background jobs; e-mail looked up before each put, not within a batch; records in a layout "
        + "made by hand; no schema, no checks of relationships"
    static let syncsUsually = false

    static func logByteCount(in folder: StoreFolder) -> Int {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix(".log") }
            .reduce(0) { $0 + StoreFolder("\(folder.path)/\($1)").diskByteCount }
    }

    private let store: RocksDBStore
    private var buffer: [UInt8] = []
    private var emailKey: [UInt8] = []

    init(_ folder: StoreFolder, _ durability: PeerDurability) throws {
        try folder.make()
        store = try RocksDBStore(folder.path, isSyncing: durability == .full)
    }

    func close() throws { store.close() }

    func create() throws {
        try store.write { batch in
            for number in 1...100 {
                let name = Array(EmployeeMaker.departmentName(number).utf8)
                batch.put(RocksDBKey(.department, UInt64(number)), name)
            }
        }
    }

    // MARK: Inserting

    func insert(_ employees: [EmployeeRow]) throws {
        var id = store.lastNumber(of: .employee)
        try store.write { batch in
            for row in employees {
                id += 1
                try insert(row, id, batch)
            }
        }
    }

    func insert(_ employees: [PhotographedRow]) throws {
        var id = store.lastNumber(of: .employee)
        try store.write { batch in
            for row in employees {
                id += 1
                try insert(row.employee, id, batch)
                row.photo.withUnsafeBytes { batch.put(RocksDBKey(.photo, id), $0) }
            }
        }
    }

    private func insert(_ row: EmployeeRow, _ id: UInt64, _ batch: RocksDBBatch) throws {
        setEmailKey(row.email)
        try emailKey.withUnsafeBytes { key in
            guard try store.get(key, { _ in true }) == nil else {
                throw BenchmarkError(.wrongResult, "\(row.email) is taken")
            }
            withUnsafeBytes(of: id) { batch.put(key, $0) }
        }
        EmployeeBytes.encode(row, into: &buffer)
        batch.put(RocksDBKey(.employee, id), buffer)
        batch.put(RocksDBKey(department: UInt32(row.departmentId), employee: id), [])
    }

    private func setEmailKey(_ email: String) {
        emailKey.removeAll(keepingCapacity: true)
        emailKey.append(RocksDBKey.Table.email.rawValue)
        emailKey.append(contentsOf: email.utf8)
    }

    // MARK: Reading

    func read(_ ids: [Int]) throws -> (salary: Double, byteCount: Int) {
        try store.read {
            var salary = 0.0
            var byteCount = 0
            for id in ids {
                try store.get(RocksDBKey(.employee, UInt64(id))) { bytes in
                    let employee = try EmployeeBytes(bytes)
                    byteCount += employee.name.utf8.count
                    salary += employee.salary
                }
            }
            return (salary, byteCount)
        }
    }

    func find(_ emails: [String], _ body: (EmployeeRow) throws -> Void) throws {
        try store.read {
            for email in emails {
                setEmailKey(email)
                let id = try emailKey.withUnsafeBytes { key in
                    try store.get(key) { $0.loadUnaligned(as: UInt64.self) }
                }
                guard let id else { throw BenchmarkError(.wrongResult, "\(email) has no employee") }
                try store.get(RocksDBKey(.employee, id)) { try body(EmployeeBytes($0).row(Int64(id))) }
            }
        }
    }

    @inline(__always)
    private func walk(_ table: RocksDBKey.Table, _ body: (UInt64, UnsafeRawBufferPointer) throws -> Void) throws {
        try store.read {
            try store.walk(from: RocksDBKey(startOf: table)) { key, value in
                guard key.first == table.rawValue else { return false }
                try body(RocksDBKey.number(key), value)
                return true
            }
        }
    }

    func wellPaidCount() throws -> Int {
        var count = 0
        try walk(.employee) { _, bytes in
            let employee = try EmployeeBytes(bytes)
            if employee.isActive && employee.salary > 120_000 { count += 1 }
        }
        return count
    }

    func walk(_ body: (EmployeeRow) throws -> Void) throws {
        try walk(.employee) { id, bytes in try body(EmployeeBytes(bytes).row(Int64(id))) }
    }

    func memberCount(of department: Int) throws -> Int {
        var count = 0
        try walkMemberNumbers(of: department) { _ in count += 1 }
        return count
    }

    /// Calls `body` with the number of each employee of a department.
    private func walkMemberNumbers(of department: Int, _ body: (UInt64) throws -> Void) throws {
        let first = RocksDBKey(department: UInt32(department), employee: 0)
        let end = RocksDBKey(department: UInt32(department) + 1, employee: 0)
        try end.withBytes { end in
            try store.walk(from: first) { key, _ in
                guard key.lexicographicallyPrecedes(end) else { return false }
                try body(RocksDBKey.number(key))
                return true
            }
        }
    }

    func walkMembers(of department: Int, _ body: (EmployeeRow) throws -> Void) throws {
        try store.read {
            try walkMemberNumbers(of: department) { id in
                try store.get(RocksDBKey(.employee, id)) { try body(EmployeeBytes($0).row(Int64(id))) }
            }
        }
    }

    func readDepartmentNames(of ids: [Int]) throws -> Int {
        try store.read {
            var byteCount = 0
            for id in ids {
                let department = try store.get(RocksDBKey(.employee, UInt64(id))) {
                    try EmployeeBytes($0).departmentNumber
                }
                byteCount += try store.get(RocksDBKey(.department, UInt64(department))) {
                    String(decoding: $0, as: UTF8.self).utf8.count
                }
            }
            return byteCount
        }
    }

    func firstByName(_ count: Int) throws -> [EmployeeRow] {
        var first = FirstRows(count)
        try walk(.employee) { id, bytes in first.add(try EmployeeBytes(bytes), Int64(id)) }
        return first.rows
    }

    func names() throws -> [String] {
        var names: [String] = []
        try walk(.employee) { _, bytes in names.append(try EmployeeBytes(bytes).name) }
        return names
    }

    func sumOfPhotos() throws -> (sum: UInt64, byteCount: Int) {
        var sum: UInt64 = 0
        var byteCount = 0
        try walk(.photo) { _, photo in
            sum &+= Photo.sum(photo)
            byteCount += photo.count
        }
        return (sum, byteCount)
    }

    // MARK: Changing

    func setSalaries(_ ids: ArraySlice<Int>, _ salaries: ArraySlice<Double>) throws {
        try store.write { batch in
            for (id, salary) in zip(ids, salaries) {
                let key = RocksDBKey(.employee, UInt64(id))
                try store.get(key) { try EmployeeBytes($0).copy(into: &buffer, salary: salary) }
                batch.put(key, buffer)
            }
        }
    }

    func apply(_ changes: [EmployeeChange]) throws {
        try store.write { batch in
            for change in changes {
                let key = RocksDBKey(.employee, UInt64(change.id))
                try store.get(key) {
                    try EmployeeBytes($0).copy(into: &buffer, salary: change.salary, notes: change.notes)
                }
                batch.put(key, buffer)
            }
        }
    }

    func deleteDepartment(_ number: Int) throws {
        try store.write { batch in
            try walkMemberNumbers(of: number) { id in
                try store.get(RocksDBKey(.employee, id)) { bytes in
                    emailKey.removeAll(keepingCapacity: true)
                    emailKey.append(RocksDBKey.Table.email.rawValue)
                    emailKey.append(contentsOf: try EmployeeBytes(bytes).emailBytes)
                }
                emailKey.withUnsafeBytes { batch.delete($0) }
                batch.delete(RocksDBKey(.employee, id))
                batch.delete(RocksDBKey(department: UInt32(number), employee: id))
            }
            batch.delete(RocksDBKey(.department, UInt64(number)))
        }
    }

    // MARK: Space

    func settle() throws { try store.compact() }

    func compact() throws { try store.compact() }
}
