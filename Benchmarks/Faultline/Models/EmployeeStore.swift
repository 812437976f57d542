import BenchmarkKit
import Faultline

/// The stores that workloads start from, and the code to open them.
enum EmployeeStore {
    static let departmentCount = 100
    static let batchSize = 10_000

    /// The hundred departments without employees.
    static let empty = StartingStore("departments-1") { folder, _ in
        let container = try open(folder)
        try makeDepartments(in: ModelContext(container)) { Department(name: $0) }
        try container.close()
    }

    /// The hundred departments and `count` employees; beside the folder, the identifier of the one that `w10` reads.
    static let full = StartingStore("employees-2") { folder, count in
        let container = try filled(folder, count)
        let identifiers = try ModelContext(container).fetchIdentifiers(FetchDescriptor<Employee>())
        try JSONEncoder().encode(identifiers[firstRead(of: count) - 1]).write(to: identifierFile(beside: folder, count))
        try container.close()
    }

    /// The same after five passes of changes over all employees.
    static let churned = StartingStore("churned-1") { folder, count in
        let container = try filled(folder, count)
        try churn(ModelContext(container), count) { _, transaction in try transaction() }
        try container.close()
    }

    /// Makes a store of the hundred departments and `count` employees, and leaves it open.
    static func filled(_ folder: StoreFolder, _ count: Int) throws -> ModelContainer {
        try empty.make(folder, count)
        let container = try open(folder)
        let context = ModelContext(container)
        let departments = try departments(in: context)
        let maker = EmployeeMaker()
        var id = 1
        while id <= count {
            let end = min(id + batchSize, count + 1)
            while id < end {
                let values = EmployeeRecord(maker.employee(id))
                context.insert(Employee(values, department: departments[values.department - 1]))
                id += 1
            }
            try context.save()
        }
        try container.checkpoint()
        return container
    }

    /// Changes salary and notes of all employees five times over, 10,000 a transaction.
    ///
    /// - Parameters:
    ///   - context: The context that writes them.
    ///   - count: Employees in the store.
    ///   - transaction: Gets the number of employees that each transaction changes, and its work; the values are made
    ///     before.
    /// - Throws: The error of the store.
    static func churn(
        _ context: ModelContext,
        _ count: Int,
        _ transaction: (_ count: Int, _ work: () throws -> Void) throws -> Void
    ) throws {
        let identifiers = try context.fetchIdentifiers(FetchDescriptor<Employee>())
        try check("employees", identifiers.count, is: count)
        var changes = ChurnChanges(n: count)
        while true {
            let batch = changes.nextBatch()
            if batch.isEmpty { return }
            try transaction(batch.count) { try apply(batch, identifiers, context) }
        }
    }

    /// Sets salary and notes of some employees, in one transaction.
    static func apply(
        _ batch: [EmployeeChange],
        _ identifiers: [PersistentIdentifier],
        _ context: ModelContext
    ) throws {
        for change in batch {
            guard let employee = context.model(for: identifiers[change.id - 1]) as? Employee else {
                throw BenchmarkError(.wrongResult, "model(for:) gave no employee")
            }
            employee.salary = change.salary
            employee.notes = change.notes
        }
        try context.save()
    }

    /// Fails unless all employees have their values after the five passes.
    static func checkChurned(_ context: ModelContext, _ count: Int) throws {
        let maker = EmployeeMaker()
        let expected = ChurnChanges.outcome(n: count)
        var place = 0
        try context.enumerate(FetchDescriptor<Employee>()) { employee in
            try check("salary of \(place + 1)", employee.salary, is: expected[place].salary)
            try check("notes of \(place + 1)", employee.notes, is: expected[place].notes)
            if place % 1_000 == 0 { try check("name", employee.name, is: maker.employee(place + 1).name) }
            place += 1
        }
        try check("employees", place, is: count)
    }

    /// The number of the employee that `w10` reads.
    static func firstRead(of count: Int) -> Int { DrawnOrder.ids(count: 1, bound: count, stream: 10)[0] }

    /// The identifier of the employee that `w10` reads, as a service would have it: without opening the store.
    static func firstReadIdentifier(beside folder: StoreFolder, _ count: Int) throws -> PersistentIdentifier {
        let data = try Data(contentsOf: identifierFile(beside: folder, count))
        return try JSONDecoder().decode(PersistentIdentifier.self, from: data)
    }

    private static func identifierFile(beside folder: StoreFolder, _ count: Int) -> URL {
        URL(filePath: folder.path).deletingLastPathComponent().appending(path: "first-read-\(count).json")
    }

    /// Opens a store of employees.
    static func open(_ folder: StoreFolder, budgetMiB: Int? = nil) throws -> ModelContainer {
        try ModelContainer(
            for: Employee.self,
            Department.self,
            configurations: configuration(folder, budgetMiB: budgetMiB)
        )
    }

    static func configuration(_ folder: StoreFolder, budgetMiB: Int? = nil) -> ModelConfiguration {
        var configuration = ModelConfiguration(url: URL(filePath: folder.path, directoryHint: .isDirectory))
        if let budgetMiB { configuration.options.memoryBudget = budgetMiB << 20 }
        return configuration
    }

    /// The same, for a migration with a memory ceiling; reads use the same budget.
    static func configuration(_ folder: StoreFolder, ceilingMiB: Int?) -> ModelConfiguration {
        var configuration = configuration(folder, budgetMiB: ceilingMiB)
        if let ceilingMiB { configuration.options.migration.memoryCeiling = ceilingMiB << 20 }
        return configuration
    }

    /// Inserts and saves the hundred departments.
    static func makeDepartments(in context: ModelContext, _ make: (_ name: String) -> some PersistentModel) throws {
        for number in 1...departmentCount { context.insert(make(EmployeeMaker.departmentName(number))) }
        try context.save()
    }

    /// All departments, in the order of their numbers.
    static func departments(in context: ModelContext) throws -> [Department] {
        let departments = try context.fetch(FetchDescriptor<Department>())
        try check("departments", departments.count, is: departmentCount)
        try check("department 42", departments[41].name, is: EmployeeMaker.departmentName(42))
        return departments
    }

    /// Adds up all values that a walk over the employees reads.
    static func sums(in context: ModelContext) throws -> EmployeeSums {
        let departments = try departments(in: context)
        var sums = EmployeeSums()
        try context.enumerate(FetchDescriptor<Employee>()) { sums.add($0, departments) }
        return sums
    }
}

extension EmployeeSums {
    /// Reads all nine properties of an employee.
    @inline(__always)
    mutating func add(_ employee: Employee, _ departments: [Department]) {
        add(employee, inDepartment42: employee.department === departments[41])
    }

    /// Reads all properties of an employee but the department.
    @inline(__always)
    mutating func add(_ employee: Employee, inDepartment42 isInDepartment42: Bool) {
        add(
            salary: employee.salary,
            hireDate: employee.hireDate.timeIntervalSinceReferenceDate,
            level: employee.level,
            isActive: employee.active,
            byteCount: employee.name.utf8.count + employee.email.utf8.count + employee.notes.utf8.count,
            isInDepartment42: isInDepartment42
        )
    }
}
