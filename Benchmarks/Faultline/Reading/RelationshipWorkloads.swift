import BenchmarkKit
import Faultline

extension Workload {
    /// `w11-dept`: loads the employees of each department as objects and adds up their salaries.
    static let w11Department = Workload(
        "w11-dept", defaultCount: 1_000_000, start: .reading(EmployeeStore.full)
    ) { run in
        let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
        let context = ModelContext(container)
        let departments = try EmployeeStore.departments(in: context)
        let before = context.counters
        let measurement = WorkloadMeasurement(store: run.store)
        var sums: [Double] = []
        var count = 0
        measurement.begin()
        measurement.resume()
        for department in departments {
            var salary = 0.0
            for employee in department.employees {
                salary += employee.salary
                count += 1
            }
            sums.append(salary)
        }
        measurement.end()
        try check("employees", count, is: run.n)
        try check("salaries by department", sums, is: DepartmentSums.salaries(n: run.n))
        var line = measurement.line(workload: "w11-dept", n: run.n, operations: run.n)
        line.rows = (context.counters - before).rowsRead
        line.sum = sums.reduce(0, +)
        return line
    }

    /// `w11-hop`: reads the name of the department of 100,000 random employees.
    static let w11Hop = Workload("w11-hop", defaultCount: 1_000_000, start: .reading(EmployeeStore.full)) { run in
        let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
        let context = ModelContext(container)
        let identifiers = try context.fetchIdentifiers(FetchDescriptor<Employee>())
        try check("employees", identifiers.count, is: run.n)

        func read(_ ids: [Int]) throws -> Int {
            var byteCount = 0
            for id in ids {
                guard let employee = context.model(for: identifiers[id - 1]) as? Employee,
                    let name = employee.department?.name
                else { throw BenchmarkError(.wrongResult, "an employee has no department") }
                byteCount += name.utf8.count
            }
            return byteCount
        }

        _ = try read(DrawnOrder.ids(count: 20_000, bound: run.n, stream: 110))
        let ids = DrawnOrder.ids(count: 100_000, bound: run.n, stream: 11)
        let before = context.counters
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        let byteCount = try read(ids)
        measurement.end()
        try check("bytes of names", byteCount, is: DepartmentSums.nameByteCount(of: ids))
        let maker = EmployeeMaker()
        for id in ids.prefix(1_000) {
            let employee = context.model(for: identifiers[id - 1]) as? Employee
            let name = EmployeeMaker.departmentName(maker.employee(id).department)
            try check("department of \(id)", employee?.department?.name, is: name)
        }
        var line = measurement.line(workload: "w11-hop", n: run.n, operations: ids.count)
        line.rows = (context.counters - before).rowsRead
        return line
    }

    /// `append`: 100,000 employees appended to one department one at a time, half of them with the inverse read after
    /// each, and saved at once.
    static let append = Workload(
        "append", defaultCount: 100_000, isDefaultMost: true, start: .changing(EmployeeStore.empty)
    ) { run in
        let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
        let context = ModelContext(container)
        let department = try EmployeeStore.departments(in: context)[0]
        let maker = EmployeeMaker()
        let values = (1...run.n).map { EmployeeRecord(maker.employee($0)) }
        let measurement = WorkloadMeasurement(store: run.store, total: run.n)
        measurement.begin()
        measurement.resume()
        for (place, values) in values.enumerated() {
            let employee = Employee(values, department: nil)
            department.employees.append(employee)
            if place * 2 < run.n { continue }
            guard employee.department === department else {
                throw BenchmarkError(.wrongResult, "an employee has no department")
            }
        }
        measurement.end()
        try measurement.settle { try context.save() }
        let line = measurement.line(workload: "append", n: run.n, operations: run.n)
        let members = try EmployeeStore.departments(in: ModelContext(container))[0].employees
        try check("employees", members.map(\.email), is: values.map(\.email))
        try container.close()
        return line
    }
}
