import BenchmarkKit

/// Migrations, timed from before opening to the end of the first read. All wait for the disk at their commit, as
/// Faultline does.
extension PeerWorkloads where P: MigratingPeer {
    var migrating: [Workload] {
        ["migrate-stream", "migrate-stream-1", "migrate-policy", "migrate-made", "migrate-mapping"].map(splitting)
            + ["migrate-values", "migrate-values-policy"].map(renaming)
            + [merging("migrate-merge-few", 100_000, isMost: true), merging("migrate-merge", 1_000_000, isMost: false)]
            + [photoSplitting("w9c", isByCode: false), photoSplitting("w9c-data", isByCode: true)]
    }

    /// Opens the store, migrates it, reads the first row.
    private func measure(
        _ name: String, _ run: WorkloadRun, first query: String, _ migrate: (P) throws -> Void
    ) throws -> (peer: P, first: String?, line: ResultLine) {
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        let peer = try P(run.store, .full)
        try migrate(peer)
        let first = try peer.texts(query + " LIMIT 1").first
        measurement.end()
        try measurement.settle { try peer.settle() }
        return (peer, first, measurement.line(workload: name, n: run.n, operations: run.n))
    }

    private func splitting(_ name: String) -> Workload {
        Workload(name, defaultCount: 1_000_000, start: .changing(full)) { run in
            let query = "SELECT firstName || ' ' || lastName FROM employee ORDER BY id"
            let (peer, first, line) = try measure(name, run, first: query) { try $0.splitNames() }
            let maker = EmployeeMaker()
            try check("first name", first, is: maker.employee(1).name)
            let names = try peer.texts(query)
            try check("employees", names.count, is: run.n)
            for (place, name) in names.enumerated() { try check("name", name, is: maker.employee(place + 1).name) }
            try checkKept(peer, run.n, level: "level")
            try peer.close()
            return result(line)
        }
    }

    private func renaming(_ name: String) -> Workload {
        Workload(name, defaultCount: 1_000_000, start: .changing(full)) { run in
            let (peer, first, line) = try measure(name, run, first: "SELECT name FROM employee ORDER BY id") {
                try $0.renameLevel()
            }
            try check("first name", first, is: EmployeeMaker().employee(1).name)
            try checkKept(peer, run.n, level: "grade")
            try check("bonus", peer.texts("SELECT SUM(bonus = 0) FROM employee"), is: ["\(run.n)"])
            try peer.close()
            return result(line)
        }
    }

    private func merging(_ name: String, _ count: Int, isMost: Bool) -> Workload {
        Workload(name, defaultCount: count, isDefaultMost: isMost, start: .changing(full)) { run in
            let (peer, first, line) = try measure(name, run, first: "SELECT SUM(count) FROM team") {
                try $0.mergeLevels()
            }
            try check("employees", first, is: "\(run.n)")
            let sums = EmployeeSums(first: run.n)
            try check("levels", peer.texts("SELECT SUM(count * level) FROM team"), is: ["\(sums.level)"])
            let salaries = try peer.texts("SELECT SUM(salaries) FROM team").first.flatMap(Double.init) ?? 0
            try check("salaries", abs(salaries - sums.salary) < 1, is: true)
            try peer.close()
            return result(line)
        }
    }

    private func photoSplitting(_ name: String, isByCode: Bool) -> Workload {
        Workload(name, defaultCount: 5_000, isDefaultMost: true, start: .changing(keptPhotos)) { run in
            let (peer, first, line) = try measure(name, run, first: "SELECT name FROM employee ORDER BY id") {
                try $0.splitPhotos(isByCode: isByCode)
            }
            try check("first name", first, is: EmployeeMaker().employee(1).name)
            try checkKept(peer, run.n, level: "level")
            let found = try peer.sumOfPhotos()
            try check("bytes of photos", found.byteCount, is: run.n * Photo.byteCount)
            try check("words of photos", found.sum, is: Photo.sum(first: run.n))
            try peer.close()
            return result(line)
        }
    }

    /// Employees with the photo as their last column.
    private var keptPhotos: StartingStore {
        StartingStore("kept-photos-1") { folder, count in
            let peer = try P(folder, .usual)
            try peer.createWithPhotoColumn()
            let maker = EmployeeMaker()
            for start in stride(from: 1, through: count, by: 100) {
                try peer.insertWithPhotoColumn(
                    (start..<min(start + 100, count + 1)).map { id in
                        PhotographedRow(employee: EmployeeRow(maker.employee(id)), photo: .init(Photo.bytes(id: id)))
                    })
            }
            try peer.settle()
            try peer.close()
        }
    }

    /// Fails unless the other values and both indexes were kept.
    private func checkKept(_ peer: P, _ count: Int, level: String) throws {
        let sums = EmployeeSums(first: count)
        try check("employees", peer.texts("SELECT COUNT(*) FROM employee"), is: ["\(count)"])
        try check("levels", peer.texts("SELECT SUM(\(level)) FROM employee"), is: ["\(sums.level)"])
        try check("active", peer.texts("SELECT SUM(active) FROM employee"), is: ["\(sums.activeCount)"])
        try check("notes", peer.texts("SELECT SUM(LENGTH(notes)) FROM employee"), is: ["\(80 * count)"])
        try check("employees of department 42", peer.memberCount(of: 42), is: sums.departmentCount)
        let email = EmployeeMaker().email(count)
        try check("e-mail", peer.texts("SELECT id FROM employee WHERE email = '\(email)'"), is: ["\(count)"])
    }
}
