import BenchmarkKit
import Faultline

extension Workload {
    /// `w5-email`: fetches 200,000 random employees by their unique e-mail address, and reads all of each.
    static let w5Email = lookUps("w5-email") { context, email in
        let found = try context.fetch(FetchDescriptor<Employee>(predicate: #Predicate { $0.email == email }))
        return found.count == 1 ? found[0] : nil
    }

    /// `w5-first`: the same by `first(_:equals:)`, without a predicate.
    static let w5First = lookUps("w5-first") { context, email in try context.first(\Employee.email, equals: email) }

    private static func lookUps(
        _ name: String, _ find: @escaping @Sendable (ModelContext, String) throws -> Employee?
    ) -> Workload {
        Workload(name, defaultCount: 1_000_000, start: .reading(EmployeeStore.full)) { run in
            let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
            let context = ModelContext(container)
            let departments = try EmployeeStore.departments(in: context)
            let maker = EmployeeMaker()

            func read(_ emails: [String]) throws -> EmployeeSums {
                var sums = EmployeeSums()
                for email in emails {
                    guard let employee = try find(context, email) else {
                        throw BenchmarkError(.wrongResult, "not one employee has the e-mail address \(email)")
                    }
                    sums.add(employee, departments)
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
            var line = measurement.line(workload: name, n: run.n, operations: ids.count)
            line.rows = (context.counters - before).rowsRead
            line.sum = sums.salary
            return line
        }
    }

    /// `find-or-create`: 100,000 employees looked up by their e-mail address and created if missing, without a save in
    /// between; each address occurs twice.
    static let findOrCreate = Workload(
        "find-or-create", defaultCount: 100_000, isDefaultMost: true, start: .changing(EmployeeStore.empty)
    ) { run in
        let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
        let context = ModelContext(container)
        let maker = EmployeeMaker()
        let distinct = max(1, run.n / 2)
        let values = (1...distinct).map { EmployeeRecord(maker.employee($0)) }
        let measurement = WorkloadMeasurement(store: run.store, total: run.n)
        measurement.begin()
        measurement.resume()
        for place in 0..<run.n {
            let values = values[place % distinct]
            let email = values.email
            let found = try context.fetch(FetchDescriptor<Employee>(predicate: #Predicate { $0.email == email }))
            if let employee = found.first {
                employee.level += 1
            } else {
                context.insert(Employee(values, department: nil))
            }
        }
        measurement.end()
        try measurement.settle { try context.save() }
        let line = measurement.line(workload: "find-or-create", n: run.n, operations: run.n)
        try check("employees", ModelContext(container).fetchCount(FetchDescriptor<Employee>()), is: distinct)
        try container.close()
        return line
    }
}
