import BenchmarkKit
import Faultline

extension Workload {
    private static let writerCount = 8

    /// `w2-8`: the same from eight threads with a context each, 2,000 saves a thread.
    static let w2Eight = Workload(
        "w2-8",
        defaultCount: 2_000,
        isDefaultMost: true,
        start: .changing(EmployeeStore.empty)
    ) { run in
        let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
        let total = writerCount * run.n
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        let ofThreads = try Crew.run(writerCount) {
            measurement.resume()
        } body: { thread, ready in
            let context = ModelContext(container)
            let departments = try EmployeeStore.departments(in: context)
            let maker = EmployeeMaker()
            let records = (1...run.n).map { EmployeeRecord(maker.employee(thread * run.n + $0)) }
            var latencies = Latencies(capacity: run.n)
            ready()
            for values in records {
                let start = ProcessFigures.wallNanoseconds()
                context.insert(Employee(values, department: departments[values.department - 1]))
                try context.save()
                latencies.record(ProcessFigures.wallNanoseconds() - start)
            }
            return latencies
        }
        measurement.end()
        try measurement.settle { try container.checkpoint() }
        var line = measurement.line(workload: "w2-8", n: run.n, operations: total)
        var latencies = Latencies(capacity: total)
        for ofThread in ofThreads { latencies.record(ofThread) }
        line.latencies = latencies

        // Saves of different threads are in no order, so neither are the employees.
        let context = ModelContext(container)
        let departments = try EmployeeStore.departments(in: context)
        let employees = try context.fetch(FetchDescriptor<Employee>(sortBy: [SortDescriptor(\.email)]))
        let maker = EmployeeMaker()
        let expected = (1...total).map { maker.employee($0) }.map { ($0, $0.email) }.sorted { $0.1 < $1.1 }
        try check("employees", employees.count, is: total)
        for (employee, (values, email)) in zip(employees, expected) {
            try check("e-mail", employee.email, is: email)
            try check("name of \(values.id)", employee.name, is: values.name)
            try check("salary of \(values.id)", employee.salary, is: values.salary)
            try check(
                "department of \(values.id)",
                employee.department === departments[values.department - 1],
                is: true
            )
        }
        try container.close()
        return line
    }
}
