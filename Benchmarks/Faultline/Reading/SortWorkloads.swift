import BenchmarkKit
import Faultline

extension Workload {
    /// `w5-sort`: fetches the first fifty employees by name, without an index.
    static let w5Sort = Workload("w5-sort", defaultCount: 1_000_000, start: .reading(EmployeeStore.full)) { run in
        let container = try EmployeeStore.open(run.store, budgetMiB: run.budgetMiB)
        let context = ModelContext(container)
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        let found = try context.fetch(FirstNames.descriptor(\Employee.name)).map(\.name)
        measurement.end()
        try check("names", found, is: FirstNames.expected(n: run.n))
        var line = measurement.line(workload: "w5-sort", n: run.n, operations: 1)
        line.rows = found.count
        return line
    }

    /// `w5-index`: opens the store with a schema that has an index of names, which builds it.
    static let w5Index = Workload("w5-index", defaultCount: 1_000_000, start: .changing(EmployeeStore.full)) { run in
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        let container = try NamedEmployees.open(run.store, budgetMiB: run.budgetMiB)
        measurement.end()
        try measurement.settle { try container.checkpoint() }
        let line = measurement.line(workload: "w5-index", n: run.n, operations: run.n)

        let context = ModelContext(container)
        try checkUsesIndex(context)
        let found = try context.fetch(FirstNames.descriptor(\NamedEmployees.Employee.name)).map(\.name)
        try check("names", found, is: FirstNames.expected(n: run.n))
        try container.close()
        return line
    }

    /// `w5-sort-indexed`: a thousand times the same fetch, with the index.
    static let w5SortIndexed = Workload(
        "w5-sort-indexed", defaultCount: 1_000_000, start: .reading(EmployeeStore.named)
    ) { run in
        let container = try NamedEmployees.open(run.store, budgetMiB: run.budgetMiB)
        let context = ModelContext(container)
        try checkUsesIndex(context)
        let expected = FirstNames.expected(n: run.n)
        let measurement = WorkloadMeasurement(store: run.store)
        var rows = 0
        measurement.begin()
        measurement.resume()
        for _ in 0..<1_000 {
            let found = try context.fetch(FirstNames.descriptor(\NamedEmployees.Employee.name)).map(\.name)
            rows += found.count
            measurement.pause()
            try check("names", found, is: expected)
            measurement.resume()
        }
        measurement.end()
        var line = measurement.line(workload: "w5-sort-indexed", n: run.n, operations: 1_000)
        line.rows = rows
        return line
    }

    /// Fails unless the fetch uses the order of the index.
    private static func checkUsesIndex(_ context: ModelContext) throws {
        let explanation = try context.explain(FirstNames.descriptor(\NamedEmployees.Employee.name))
        guard explanation.isOrderedByIndex else {
            throw BenchmarkError(.wrongResult, "the fetch by name is not answered from the index: \(explanation)")
        }
    }
}

extension FirstNames {
    /// The first employees by name.
    static func descriptor<Model: PersistentModel>(
        _ name: any KeyPath<Model, String> & Sendable
    ) -> FetchDescriptor<Model> {
        var descriptor = FetchDescriptor<Model>(sortBy: [SortDescriptor(name, comparator: .lexical)])
        descriptor.fetchLimit = count
        return descriptor
    }
}
