import BenchmarkKit
import Faultline

/// An employee whose name is in two parts, in any version and after any kind of migration.
protocol SplitEmployee: PersistentModel {
    var firstName: String { get }
    var lastName: String { get }
    var email: String { get }
    var salary: Double { get }
    var hireDate: Date { get }
    var active: Bool { get }
    var level: Int { get }
    var notes: String { get }
}

/// Compares all employees of a migrated store with the inserted ones.
///
/// - Parameters:
///   - context: A context of the store.
///   - type: The class of the employees.
///   - count: The expected number of employees.
///   - isOfDepartment42: Whether an employee belongs to it.
/// - Throws: `BenchmarkError` for the first difference.
func checkSplitNames<E: SplitEmployee>(
    in context: ModelContext, _ type: E.Type, count: Int, isOfDepartment42: (E) -> Bool
) throws {
    let maker = EmployeeMaker()
    var id = 0
    var sums = EmployeeSums()
    try context.enumerate(FetchDescriptor<E>()) { employee in
        id += 1
        sums.count += 1
        sums.salary += employee.salary
        sums.hireDate += employee.hireDate.timeIntervalSinceReferenceDate
        sums.level += employee.level
        sums.activeCount += employee.active ? 1 : 0
        sums.byteCount += 120
        sums.wellPaidCount += employee.active && employee.salary > 120_000 ? 1 : 0
        sums.departmentCount += isOfDepartment42(employee) ? 1 : 0
        let values = maker.employee(id)
        try check("name of \(id)", "\(employee.firstName) \(employee.lastName)", is: values.name)
        try check("e-mail of \(id)", employee.email, is: values.email)
        try check("notes of \(id)", employee.notes, is: values.notes)
    }
    try check("sums", sums, is: EmployeeSums(first: count))
}
