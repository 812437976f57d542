import BenchmarkKit
import Faultline

extension Workload {
    /// `w1`: inserts employees, 10,000 a transaction; making the model objects is timed, making their values is not.
    static let w1 = Workload("w1", defaultCount: 1_000_000, start: .changing(EmployeeStore.empty)) { run in
        let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
        let context = ModelContext(container)
        let departments = try EmployeeStore.departments(in: context)
        let maker = EmployeeMaker()
        var batch: [EmployeeRecord] = []
        batch.reserveCapacity(EmployeeStore.batchSize)
        let measurement = WorkloadMeasurement(store: run.store, total: run.n)
        measurement.begin()
        var id = 1
        while id <= run.n {
            batch.removeAll(keepingCapacity: true)
            while id <= run.n, batch.count < EmployeeStore.batchSize {
                batch.append(EmployeeRecord(maker.employee(id)))
                id += 1
            }
            measurement.resume()
            for values in batch {
                context.insert(Employee(values, department: departments[values.department - 1]))
            }
            try context.save()
            measurement.advance(batch.count)
            measurement.pause()
        }
        measurement.end()
        try measurement.settle { try container.checkpoint() }
        let line = measurement.line(workload: "w1", n: run.n, operations: run.n)

        let expected = EmployeeSums(first: run.n)
        let fresh = ModelContext(container)
        try check("sums", EmployeeStore.sums(in: fresh), is: expected)
        try check("employees", fresh.fetchCount(FetchDescriptor<Employee>()), is: run.n)
        let members = try EmployeeStore.departments(in: fresh)[41].employees
        try check("employees of department 42", members.count, is: expected.departmentCount)
        let email = maker.email(run.n)
        let last = try fresh.fetch(FetchDescriptor<Employee>(predicate: #Predicate { $0.email == email }))
        try check("names by e-mail", last.map(\.name), is: [maker.employee(run.n).name])
        try container.close()
        return line
    }
}
