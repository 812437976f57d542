import BenchmarkKit
import Faultline

extension Workload {
    /// `w8-read`: reads every photo in the order of creation, and adds up its words.
    static let w8Read = Workload(
        "w8-read",
        defaultCount: Photographed.count,
        isDefaultMost: true,
        start: .reading(Photographed.full)
    ) { run in
        let container = try Photographed.open(run.store, budgetMiB: run.budgetMiB)
        let context = ModelContext(container)
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        let found = try Photographed.sumOfPhotos(context)
        measurement.end()
        try check("bytes of photos", found.byteCount, is: run.n * Photo.byteCount)
        try check("words of photos", found.sum, is: Photo.sum(first: run.n))
        if run.n == 5_000 { try check("words of 5,000 photos", found.sum, is: 0xAB2A_17E8_894B_69BF) }
        var line = measurement.line(workload: "w8-read", n: run.n, operations: run.n)
        line.bytes = found.byteCount
        line.blobBytesRead = context.counters.blobBytesRead
        return line
    }
}
