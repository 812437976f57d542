import BenchmarkKit
import Faultline

extension Workload {
    /// `w6`: fetches 100,000 random employees by identifier and sets their salary, 1,000 a transaction.
    static let w6 = Workload("w6", defaultCount: 1_000_000, start: .changing(EmployeeStore.full)) { run in
        let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
        let context = ModelContext(container)
        let identifiers = try context.fetchIdentifiers(FetchDescriptor<Employee>())
        let changes = SalaryChanges(n: run.n)
        let ids = changes.ids
        let measurement = WorkloadMeasurement(store: run.store, total: ids.count)
        measurement.begin()
        measurement.resume()
        for start in stride(from: 0, to: ids.count, by: SalaryChanges.batchSize) {
            let end = min(start + SalaryChanges.batchSize, ids.count)
            for place in start..<end {
                guard let employee = context.model(for: identifiers[ids[place] - 1]) as? Employee else {
                    throw BenchmarkError(.wrongResult, "model(for:) gave no employee")
                }
                employee.salary = changes.salaries[place]
            }
            try context.save()
            measurement.advance(end - start)
        }
        measurement.end()
        try measurement.settle { try container.checkpoint() }
        let line = measurement.line(workload: "w6", n: run.n, operations: ids.count)

        let maker = EmployeeMaker()
        let expected = changes.outcome(n: run.n)
        var place = 0
        try ModelContext(container).enumerate(FetchDescriptor<Employee>()) { employee in
            try check("salary of \(place + 1)", employee.salary, is: expected[place])
            if place % 1_000 == 0 { try check("name", employee.name, is: maker.employee(place + 1).name) }
            place += 1
        }
        try check("employees", place, is: run.n)
        try container.close()
        return line
    }
}
