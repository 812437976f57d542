import BenchmarkKit

/// A store to compare Faultline with: the operations of the workloads, implemented as well as its interface allows.
///
/// Each call runs a whole loop, so that no peer pays for calls across modules. A peer keeps its prepared statements and
/// handles.
protocol Peer: AnyObject, SendableMetatype {
    /// The name in results.
    static var name: String { get }
    /// The peer's configuration, in a sentence.
    static var settings: String { get }
    /// Whether its usual setting waits for the disk at each commit.
    static var syncsUsually: Bool { get }
    /// Bytes of log that a killed writer left in a store.
    static func logByteCount(in folder: StoreFolder) -> Int

    /// Opens the store in a folder, or makes an empty one.
    init(_ folder: StoreFolder, _ durability: PeerDurability) throws
    /// Releases all resources; the last call.
    func close() throws

    /// Creates tables and indexes, and the hundred departments.
    func create() throws
    /// Inserts employees in one transaction; the store numbers them.
    func insert(_ employees: [EmployeeRow]) throws
    /// Inserts employees with their photos in one transaction.
    func insert(_ employees: [PhotographedRow]) throws

    /// Reads name and salary of employees, in one read transaction.
    ///
    /// - Returns: Salaries added up, and the bytes of all names.
    func read(_ ids: [Int]) throws -> (salary: Double, byteCount: Int)
    /// Reads whole employees by e-mail address, in one read transaction.
    func find(_ emails: [String], _ body: (EmployeeRow) throws -> Void) throws
    /// Counts the active employees with a salary above 120,000.
    func wellPaidCount() throws -> Int
    /// Reads all employees in the order of their numbers, one at a time.
    func walk(_ body: (EmployeeRow) throws -> Void) throws
    /// Counts the employees of a department, by its index.
    func memberCount(of department: Int) throws -> Int
    /// Reads the employees of a department, found by its index, one at a time.
    func walkMembers(of department: Int, _ body: (EmployeeRow) throws -> Void) throws
    /// Reads the name of the department of each of these employees, in one read transaction.
    ///
    /// - Returns: The bytes of all names.
    func readDepartmentNames(of ids: [Int]) throws -> Int
    /// Reads the first employees by name.
    func firstByName(_ count: Int) throws -> [EmployeeRow]
    /// The names of all employees, in the order of their numbers.
    func names() throws -> [String]
    /// Reads all photos in the order of their employees, and adds up their words.
    func sumOfPhotos() throws -> (sum: UInt64, byteCount: Int)

    /// Sets the salary of employees, one after the other, in one transaction.
    func setSalaries(_ ids: ArraySlice<Int>, _ salaries: ArraySlice<Double>) throws
    /// Sets salary and notes of employees in one transaction.
    func apply(_ changes: [EmployeeChange]) throws

    /// Deletes a department and all its employees, in one transaction.
    func deleteDepartment(_ number: Int) throws

    /// Does the work that is pending after the last commit.
    func settle() throws
    /// Frees the space of old versions.
    func compact() throws
}

/// A peer that can create indexes.
protocol IndexingPeer: Peer {
    /// Creates an index of the employees' names.
    func indexNames() throws
}

/// When a commit returns.
enum PeerDurability: Sendable {
    /// The peer's usual setting in an embedded store.
    case usual
    /// When it is on the disk.
    case full
}
