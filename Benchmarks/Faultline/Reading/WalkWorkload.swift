import BenchmarkKit
import Faultline

extension Workload {
    /// `w4-sum`: walks all employees as objects, reads all nine properties of each.
    static let w4Sum = Workload("w4-sum", defaultCount: 1_000_000, start: .reading(EmployeeStore.full)) { run in
        let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
        let context = ModelContext(container)
        let measurement = WorkloadMeasurement(store: run.store)
        var sums = EmployeeSums()
        var last: PersistentIdentifier?
        measurement.begin()
        measurement.resume()
        let departments = try EmployeeStore.departments(in: context)
        try context.enumerate(FetchDescriptor<Employee>()) { employee in
            let identifier = employee.persistentModelID
            if identifier == last { throw BenchmarkError(.wrongResult, "one employee came twice") }
            last = identifier
            sums.add(employee, departments)
        }
        measurement.end()
        try check("sums", sums, is: EmployeeSums(first: run.n))
        if run.n == 100_000 { try check("salaries", ResultLine.rounded(sums.salary, digits: 2), is: "9005231012.08") }
        var line = measurement.line(workload: "w4-sum", n: run.n, operations: run.n)
        line.rows = sums.count
        line.sum = sums.salary
        return line
    }
}
