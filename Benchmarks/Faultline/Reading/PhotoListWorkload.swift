import BenchmarkKit
import Faultline

extension Workload {
    /// `w8-list`: puts the names of all employees into an array; no byte of a photo is read.
    static let w8List = Workload(
        "w8-list",
        defaultCount: Photographed.count,
        isDefaultMost: true,
        start: .reading(Photographed.full)
    ) { run in
        let container = try Photographed.open(run.store, budgetMiB: run.budgetMiB)
        let context = ModelContext(container)
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        let names = try context.fetch(FetchDescriptor<Photographed.Employee>()).map(\.name)
        measurement.end()
        let maker = EmployeeMaker()
        try check("names", names, is: (1...run.n).map { maker.employee($0).name })
        try check("bytes of photos read", context.counters.blobBytesRead, is: 0)
        var line = measurement.line(workload: "w8-list", n: run.n, operations: run.n)
        line.rows = names.count
        line.blobBytesRead = context.counters.blobBytesRead
        return line
    }
}
