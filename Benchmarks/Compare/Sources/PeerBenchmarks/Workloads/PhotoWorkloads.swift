import BenchmarkKit

extension PeerWorkloads {
    private static var count: Int { 5_000 }

    /// Inserts employees with their photos, 100 a transaction; making the values is not timed.
    var w8Insert: Workload {
        Workload("w8-insert", defaultCount: Self.count, isDefaultMost: true, start: .changing(empty)) { run in
            let peer = try open(run.store)
            let measurement = WorkloadMeasurement(store: run.store, total: run.n)
            measurement.begin()
            try insertPhotographed(peer, run.n, measurement.time)
            measurement.end()
            try measurement.settle { try peer.settle() }
            var line = measurement.line(workload: "w8-insert", n: run.n, operations: run.n)
            line.bytes = run.n * Photo.byteCount
            try checkInserted(peer, run.n)
            let found = try peer.sumOfPhotos()
            try check("bytes of photos", found.byteCount, is: run.n * Photo.byteCount)
            try check("words of photos", found.sum, is: Photo.sum(first: run.n))
            try peer.close()
            return result(line)
        }
    }

    /// Puts the names of all employees into an array; no photo is read.
    var w8List: Workload {
        Workload("w8-list", defaultCount: Self.count, isDefaultMost: true, start: .reading(photographed)) { run in
            let peer = try open(run.store)
            let measurement = WorkloadMeasurement(store: run.store)
            measurement.begin()
            measurement.resume()
            let names = try peer.names()
            measurement.end()
            let maker = EmployeeMaker()
            try check("names", names, is: (1...run.n).map { maker.employee($0).name })
            var line = measurement.line(workload: "w8-list", n: run.n, operations: run.n)
            line.rows = names.count
            try peer.close()
            return result(line)
        }
    }

    /// Reads every photo in the order of the employees, and adds up its words.
    var w8Read: Workload {
        Workload("w8-read", defaultCount: Self.count, isDefaultMost: true, start: .reading(photographed)) { run in
            let peer = try open(run.store)
            let measurement = WorkloadMeasurement(store: run.store)
            measurement.begin()
            measurement.resume()
            let found = try peer.sumOfPhotos()
            measurement.end()
            try check("bytes of photos", found.byteCount, is: run.n * Photo.byteCount)
            try check("words of photos", found.sum, is: Photo.sum(first: run.n))
            var line = measurement.line(workload: "w8-read", n: run.n, operations: run.n)
            line.bytes = found.byteCount
            try peer.close()
            return result(line)
        }
    }
}
