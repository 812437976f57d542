import BenchmarkKit
import Faultline

extension Workload {
    /// `w5-email`: fetches 200,000 random employees by their unique e-mail address, and reads all of each.
    static let w5Email = Workload("w5-email", defaultCount: 1_000_000, start: .reading(EmployeeStore.full)) { run in
        let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
        let context = ModelContext(container)
        let departments = try EmployeeStore.departments(in: context)
        let maker = EmployeeMaker()

        func read(_ emails: [String]) throws -> EmployeeSums {
            var sums = EmployeeSums()
            for email in emails {
                let found = try context.fetch(FetchDescriptor<Employee>(predicate: #Predicate { $0.email == email }))
                guard found.count == 1 else {
                    throw BenchmarkError(.wrongResult, "\(found.count) employees have the e-mail address \(email)")
                }
                sums.add(found[0], departments)
            }
            return sums
        }

        _ = try read(DrawnOrder.ids(count: 20_000, bound: run.n, stream: 50).map { maker.email($0) })
        let ids = DrawnOrder.ids(count: 200_000, bound: run.n, stream: 5)
        let emails = ids.map { maker.email($0) }
        let before = context.counters
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        let sums = try read(emails)
        measurement.end()
        try check("sums", sums, is: EmployeeSums(of: ids))
        var line = measurement.line(workload: "w5-email", n: run.n, operations: ids.count)
        line.rows = (context.counters - before).rowsRead
        line.sum = sums.salary
        return line
    }
}
