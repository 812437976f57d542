import BenchmarkKit
import CLMDB

/// The five tables of the benchmarks in one environment.
struct LMDBEnvironment {
    private let environment: OpaquePointer
    /// Names by number.
    let departments: MDB_dbi
    /// Records by number.
    let employees: MDB_dbi
    /// Numbers of employees by e-mail address.
    let emails: MDB_dbi
    /// Numbers of employees by the number of their department.
    let members: MDB_dbi
    /// Photos by the number of the employee.
    let photos: MDB_dbi

    /// Opens the environment in a folder, and creates missing parts.
    init(_ path: String) throws {
        var made: OpaquePointer?
        try check(mdb_env_create(&made))
        guard let made else { throw BenchmarkError(.storage, "\(path): no environment") }
        environment = made
        do {
            try check(mdb_env_set_mapsize(made, 16 << 30))
            try check(mdb_env_set_maxdbs(made, 5))
            try check(mdb_env_open(made, path, 0, 0o644))
            var transaction: OpaquePointer?
            try check(mdb_txn_begin(made, nil, 0, &transaction))
            func table(_ name: String, _ flags: Int32) throws -> MDB_dbi {
                var table = MDB_dbi()
                try check(mdb_dbi_open(transaction, name, UInt32(flags | MDB_CREATE), &table))
                return table
            }
            do {
                departments = try table("departments", MDB_INTEGERKEY)
                employees = try table("employees", MDB_INTEGERKEY)
                emails = try table("emails", 0)
                members = try table("members", MDB_INTEGERKEY | MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP)
                photos = try table("photos", MDB_INTEGERKEY)
            } catch {
                mdb_txn_abort(transaction)
                throw error
            }
            try check(mdb_txn_commit(transaction))
        } catch {
            mdb_env_close(made)
            throw error
        }
    }

    func close() { mdb_env_close(environment) }

    /// Writes a compacted copy into an empty folder.
    func copy(to path: String) throws {
        try check(mdb_env_copy2(environment, path, UInt32(MDB_CP_COMPACT)))
    }

    /// One write transaction; it commits unless the body throws.
    func write<R>(_ body: (LMDBTransaction) throws -> R) throws -> R {
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(environment, nil, 0, &transaction))
        let result: R
        do {
            result = try body(LMDBTransaction(transaction))
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        try check(mdb_txn_commit(transaction))
        return result
    }

    /// One read transaction.
    func read<R>(_ body: (LMDBTransaction) throws -> R) throws -> R {
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
        defer { mdb_txn_abort(transaction) }
        return try body(LMDBTransaction(transaction))
    }
}

/// Throws LMDB's message for a status that is not 0.
@inline(__always)
func check(_ status: Int32) throws(BenchmarkError) {
    guard status != 0 else { return }
    throw BenchmarkError(.storage, "LMDB: \(String(cString: mdb_strerror(status)))")
}
