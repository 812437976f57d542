import BenchmarkKit
import Faultline

extension Workload {
    /// `w3`: reads name and salary of 200,000 random employees by identifier.
    static let w3 = Workload("w3", defaultCount: 1_000_000, start: .reading(EmployeeStore.full)) { run in
        let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
        let context = ModelContext(container)
        let identifiers = try context.fetchIdentifiers(FetchDescriptor<Employee>())
        try check("employees", identifiers.count, is: run.n)

        func read(_ ids: [Int]) throws -> (salary: Double, byteCount: Int) {
            var salary = 0.0
            var byteCount = 0
            for id in ids {
                guard let employee = context.model(for: identifiers[id - 1]) as? Employee else {
                    throw BenchmarkError(.wrongResult, "model(for:) gave no employee")
                }
                byteCount += employee.name.utf8.count
                salary += employee.salary
            }
            return (salary, byteCount)
        }

        _ = try read(DrawnOrder.ids(count: 20_000, bound: run.n, stream: 30))
        let ids = DrawnOrder.ids(count: 200_000, bound: run.n, stream: 3)
        let before = context.counters
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        let found = try read(ids)
        measurement.end()

        let maker = EmployeeMaker()
        var expected = 0.0
        for id in ids { expected += maker.employee(id).salary }
        try check("salaries", found.salary, is: expected)
        try check("bytes of names", found.byteCount, is: 16 * ids.count)
        for id in ids.prefix(1_000) {
            let employee = context.model(for: identifiers[id - 1]) as? Employee
            try check("name of \(id)", employee?.name, is: maker.employee(id).name)
        }
        var line = measurement.line(workload: "w3", n: run.n, operations: ids.count)
        line.rows = (context.counters - before).rowsRead
        line.sum = found.salary
        return line
    }
}
