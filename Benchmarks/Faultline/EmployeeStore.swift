import BenchmarkKit
import Faultline

/// The stores that workloads start from, and how they are opened.
enum EmployeeStore {
    static let departmentCount = 100
    static let batchSize = 10_000

    /// The hundred departments and nobody in them.
    static let empty = StartingStore("departments-1") { folder, _ in
        let container = try open(folder)
        let context = ModelContext(container)
        for number in 1...departmentCount {
            context.insert(Department(name: EmployeeMaker.departmentName(number)))
        }
        try context.save()
        try container.close()
    }

    /// The hundred departments and `count` employees.
    static let full = StartingStore("employees-1") { folder, count in
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
        try container.close()
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

    /// All departments, in the order of their numbers.
    static func departments(in context: ModelContext) throws -> [Department] {
        let departments = try context.fetch(FetchDescriptor<Department>())
        try check("departments", departments.count, is: departmentCount)
        try check("department 42", departments[41].name, is: EmployeeMaker.departmentName(42))
        return departments
    }

    /// Adds up all that a walk over the employees reads.
    static func sums(in context: ModelContext) throws -> EmployeeSums {
        let departments = try departments(in: context)
        var sums = EmployeeSums()
        try context.enumerate(FetchDescriptor<Employee>()) { employee in
            sums.count += 1
            let salary = employee.salary
            let active = employee.active
            sums.salary += salary
            sums.hireDate += employee.hireDate.timeIntervalSinceReferenceDate
            sums.level += employee.level
            sums.activeCount += active ? 1 : 0
            sums.byteCount += employee.name.utf8.count + employee.email.utf8.count + employee.notes.utf8.count
            sums.wellPaidCount += active && salary > 120_000 ? 1 : 0
            sums.departmentCount += employee.department === departments[41] ? 1 : 0
        }
        return sums
    }
}
