import BenchmarkKit
import Faultline

extension Workload {
    /// `w7`: deletes department 42 and with it all its employees, in one transaction.
    static let w7 = Workload("w7", defaultCount: 1_000_000, start: .changing(EmployeeStore.full)) { run in
        let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
        let context = ModelContext(container)
        let department = try EmployeeStore.departments(in: context)[41]
        let before = EmployeeSums(first: run.n)
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        context.delete(department)
        try context.save()
        measurement.end()
        try measurement.settle { try container.checkpoint() }
        var line = measurement.line(workload: "w7", n: run.n, operations: before.departmentCount)

        let after = ModelContext(container)
        try check("departments", after.fetchCount(FetchDescriptor<Department>()), is: EmployeeStore.departmentCount - 1)
        var left = EmployeeSums()
        try after.enumerate(FetchDescriptor<Employee>()) { employee in
            guard employee.department != nil else {
                throw BenchmarkError(.wrongResult, "an employee without a department is left")
            }
            left.add(employee, inDepartment42: false)
        }
        try check("employees", left.count, is: before.count - before.departmentCount)
        try check("bytes", left.byteCount, is: before.byteCount - 120 * before.departmentCount)
        let email = EmployeeMaker().email(try firstMember(of: 42, n: run.n))
        let found = try after.fetchCount(FetchDescriptor<Employee>(predicate: #Predicate { $0.email == email }))
        try check("employees with the address of one that is gone", found, is: 0)
        line.rows = left.count
        try container.close()
        return line
    }

    /// The lowest number of an employee of a department.
    private static func firstMember(of department: Int, n: Int) throws -> Int {
        let maker = EmployeeMaker()
        guard let id = (1...n).first(where: { maker.employee($0).department == department }) else {
            throw BenchmarkError(.wrongResult, "no employee is in department \(department)")
        }
        return id
    }
}
