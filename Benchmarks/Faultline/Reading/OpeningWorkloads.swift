import BenchmarkKit
import Faultline
import FaultlineLog
import FaultlineStore

extension Workload {
    /// `w10-clean`: opens a store that was closed, and reads one employee by identifier.
    static let w10Clean = Workload("w10-clean", defaultCount: 1_000_000, start: .changing(EmployeeStore.full)) { run in
        let (container, line) = try open(run, "w10-clean") { $0.salary }
        let expected = EmployeeMaker().employee(EmployeeStore.firstRead(of: run.n)).salary
        try check("salary", line.sum, is: expected)
        try container.close()
        return line
    }

    /// `w10-killed`: the same after the writer was killed; the whole store is then compared with whole transactions.
    static let w10Killed = Workload(
        "w10-killed",
        defaultCount: 1_000_000,
        start: .killed(EmployeeStore.full) { run in
            let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
            let context = ModelContext(container)
            let identifiers = try context.fetchIdentifiers(FetchDescriptor<Employee>())
            var changes = EndlessChanges(n: run.n)
            while true { try EmployeeStore.apply(changes.nextBatch(), identifiers, context) }
        }
    ) { run in
        var (container, line) = try open(run, "w10-killed") { $0.salary }
        var salaries: [Double] = []
        var notes: [String] = []
        try ModelContext(container).enumerate(FetchDescriptor<Employee>()) { employee in
            salaries.append(employee.salary)
            notes.append(employee.notes)
        }
        try check("employees", salaries.count, is: run.n)
        try check("salary", line.sum, is: salaries[EmployeeStore.firstRead(of: run.n) - 1])
        let count = try EndlessChanges.transactionCount(salaries: salaries, notes: notes)
        guard count > 0 else { throw BenchmarkError(.wrongResult, "the writer was killed before its first commit") }
        line.rows = count * EndlessChanges.batchSize
        line.logByteCount = Int(clamping: container.rowStore.log.openReport.replayedByteCount)
        try container.close()
        return line
    }

    /// Times from before opening to the end of the first read.
    private static func open(
        _ run: WorkloadRun,
        _ name: String,
        _ read: (Employee) -> Double
    ) throws -> (container: ModelContainer, line: ResultLine) {
        let identifier = try EmployeeStore.firstReadIdentifier(beside: run.store, run.n)
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
        let context = ModelContext(container)
        guard let employee = context.model(for: identifier) as? Employee else {
            throw BenchmarkError(.wrongResult, "model(for:) gave no employee")
        }
        let salary = read(employee)
        measurement.end()
        var line = measurement.line(workload: name, n: run.n, operations: 1)
        line.sum = salary
        return (container, line)
    }
}
