import BenchmarkKit
import Faultline

extension Workload {
    /// `fault-list`: fetches all employees into an array and touches none.
    static let faultList = Workload("fault-list", defaultCount: 1_000_000, start: .reading(EmployeeStore.full)) { run in
        let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
        let context = ModelContext(container)
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        let employees = try context.fetch(FetchDescriptor<Employee>())
        measurement.end()
        try check("employees", employees.count, is: run.n)
        try check("rows read", context.counters.rowsRead, is: 0)
        var line = measurement.line(workload: "fault-list", n: run.n, operations: run.n)
        line.objectsRetained = employees.count
        let maker = EmployeeMaker()
        for id in DrawnOrder.ids(count: 1_000, bound: run.n, stream: 3) {
            try check("name of \(id)", employees[id - 1].name, is: maker.employee(id).name)
        }
        return line
    }
}
