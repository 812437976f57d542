import BenchmarkKit
import Faultline

/// The employees with their photos, and the store of them.
enum Photographed {
    @Model
    final class Department {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \Photographed.Employee.department)
        var employees: [Photographed.Employee] = []

        init(name: String) {
            self.name = name
        }
    }

    @Model
    final class Employee {
        var name: String
        @Attribute(.unique) var email: String
        var salary: Double
        var hireDate: Date
        var active: Bool
        var level: Int
        var notes: String
        @Attribute(.externalStorage) var photo: Data
        var department: Photographed.Department?

        init(_ values: EmployeeRecord, photo: Data, department: Photographed.Department?) {
            name = values.name
            email = values.email
            salary = values.salary
            hireDate = values.hireDate
            active = values.active
            level = values.level
            notes = values.notes
            self.photo = photo
            self.department = department
        }
    }

    /// Employees of one transaction.
    static let batchSize = 100
    /// Employees of the workloads.
    static let count = 5_000

    /// The hundred departments without employees.
    static let empty = StartingStore("photo-departments-1") { folder, _ in
        let container = try open(folder)
        try EmployeeStore.makeDepartments(in: ModelContext(container)) { Department(name: $0) }
        try container.close()
    }

    /// The hundred departments and `count` employees.
    static let full = StartingStore("photos-1") { folder, count in
        try empty.make(folder, count)
        let container = try open(folder)
        try fill(ModelContext(container), count) { _, transaction in try transaction() }
        try container.checkpoint()
        try container.close()
    }

    /// Inserts employees, 100 a transaction.
    ///
    /// - Parameters:
    ///   - context: The context that writes them.
    ///   - count: The number of employees.
    ///   - transaction: Gets the number of employees of each transaction, and its work; their values are made before.
    /// - Throws: The error of the store.
    static func fill(
        _ context: ModelContext,
        _ count: Int,
        _ transaction: (_ count: Int, _ work: () throws -> Void) throws -> Void
    ) throws {
        try fill(
            context, count,
            making: { Employee($0, photo: $1, department: $2 as Department) }, transaction)
    }

    /// The same with employees and departments of other classes.
    static func fill<Department: PersistentModel>(
        _ context: ModelContext,
        _ count: Int,
        making make: @escaping (EmployeeRecord, Data, Department) -> some PersistentModel,
        _ transaction: (_ count: Int, _ work: () throws -> Void) throws -> Void
    ) throws {
        let departments = try context.fetch(FetchDescriptor<Department>())
        try check("departments", departments.count, is: EmployeeStore.departmentCount)
        let maker = EmployeeMaker()
        for start in stride(from: 1, through: count, by: batchSize) {
            let batch = (start..<min(start + batchSize, count + 1)).map { id in
                (EmployeeRecord(maker.employee(id)), Data(Photo.bytes(id: id)))
            }
            try transaction(batch.count) {
                for (values, photo) in batch {
                    context.insert(make(values, photo, departments[values.department - 1]))
                }
                try context.save()
            }
        }
    }

    /// Reads every photo and adds up its words.
    static func sumOfPhotos(_ context: ModelContext) throws -> (sum: UInt64, byteCount: Int) {
        var sum: UInt64 = 0
        var byteCount = 0
        try context.enumerate(FetchDescriptor<Employee>()) { employee in
            employee.photo.withUnsafeBytes { photo in
                sum &+= Photo.sum(photo)
                byteCount += photo.count
            }
        }
        return (sum, byteCount)
    }

    static func open(_ folder: StoreFolder, budgetMiB: Int? = nil) throws -> ModelContainer {
        try ModelContainer(
            for: Employee.self,
            Department.self,
            configurations: EmployeeStore.configuration(folder, budgetMiB: budgetMiB)
        )
    }
}
