import BenchmarkKit
import Faultline

extension Workload {
    /// `w8-insert`: inserts employees with their photos, 100 a transaction; making the values is not timed.
    static let w8Insert = Workload(
        "w8-insert",
        defaultCount: Photographed.count,
        isDefaultMost: true,
        start: .changing(Photographed.empty)
    ) { run in
        let container = try Photographed.open(run.store, budgetMiB: run.budgetMiB)
        let measurement = WorkloadMeasurement(store: run.store, total: run.n)
        measurement.begin()
        try Photographed.fill(ModelContext(container), run.n, measurement.time)
        measurement.end()
        try measurement.settle { try container.checkpoint() }
        var line = measurement.line(workload: "w8-insert", n: run.n, operations: run.n)
        line.bytes = run.n * Photo.byteCount
        let found = try Photographed.sumOfPhotos(ModelContext(container))
        try check("bytes of photos", found.byteCount, is: run.n * Photo.byteCount)
        try check("words of photos", found.sum, is: Photo.sum(first: run.n))
        try container.close()
        return line
    }
}
