import BenchmarkKit
import Faultline

extension Workload {
    /// `fault-touch`: reads one property of each of all employees, which are held in an array as faults.
    static let faultTouch = Workload("fault-touch", defaultCount: 1_000_000, start: .reading(EmployeeStore.full)) {
        run in
        let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
        let context = ModelContext(container)
        let employees = try context.fetch(FetchDescriptor<Employee>())
        try check("employees", employees.count, is: run.n)
        let measurement = WorkloadMeasurement(store: run.store)
        var salary = 0.0
        measurement.begin()
        measurement.resume()
        for employee in employees { salary += employee.salary }
        measurement.end()
        try check("salaries", salary, is: EmployeeSums(first: run.n).salary)
        var line = measurement.line(workload: "fault-touch", n: run.n, operations: run.n)
        line.rows = context.counters.rowsRead
        line.sum = salary
        line.objectsRetained = employees.count
        return line
    }
}
