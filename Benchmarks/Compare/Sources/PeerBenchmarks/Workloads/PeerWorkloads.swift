import BenchmarkKit

/// The workloads through one peer; each does the same as Faultline's workload of that name, with the same checks.
struct PeerWorkloads<P: Peer>: Sendable {
    static var batchSize: Int { 10_000 }
    let durability: PeerDurability

    /// The name in results: with `-sync` if it waits for the disk at each commit and usually does not.
    var name: String { durability == .full ? P.name + "-sync" : P.name }

    /// All workloads; with full durability only those that it affects.
    var all: [Workload] {
        guard durability == .usual else { return [w1, w6] }
        return [
            w1, w2, w3, w4Count, w4Sum, w5Email, w5First, w5Sort, w6, w7, w8Insert, w8List, w8Read, w10Clean,
            w10Killed, w11Department, w11Hop, w12, w12Compact,
        ]
    }

    func open(_ folder: StoreFolder) throws -> P { try P(folder, durability) }

    // MARK: Stores

    /// The hundred departments without employees.
    var empty: StartingStore {
        StartingStore("departments-1") { folder, _ in
            let peer = try P(folder, .usual)
            try peer.create()
            try peer.settle()
            try peer.close()
        }
    }

    /// The hundred departments and `count` employees.
    var full: StartingStore {
        StartingStore("employees-1") { folder, count in
            let peer = try P(folder, .usual)
            try peer.create()
            let maker = EmployeeMaker()
            for start in stride(from: 1, through: count, by: Self.batchSize) {
                try peer.insert(EmployeeRow.rows(start..<min(start + Self.batchSize, count + 1), maker))
            }
            try peer.settle()
            try peer.close()
        }
    }

    /// The same after five passes of changes over all employees.
    var churned: StartingStore {
        StartingStore("churned-1") { folder, count in
            try full.make(folder, count)
            let peer = try P(folder, .usual)
            var changes = ChurnChanges(n: count)
            while true {
                let batch = changes.nextBatch()
                if batch.isEmpty { break }
                try peer.apply(batch)
            }
            try peer.settle()
            try peer.close()
        }
    }

    /// The hundred departments and `count` employees with their photos.
    var photographed: StartingStore {
        StartingStore("photos-1") { folder, count in
            let peer = try P(folder, .usual)
            try peer.create()
            try insertPhotographed(peer, count) { _, transaction in try transaction() }
            try peer.settle()
            try peer.close()
        }
    }

    /// Inserts employees with their photos, 100 a transaction.
    ///
    /// - Parameters:
    ///   - peer: The target.
    ///   - count: The number of employees.
    ///   - transaction: Gets the number of employees of each transaction, and its work; their values are made before.
    /// - Throws: The error of the peer.
    func insertPhotographed(
        _ peer: P,
        _ count: Int,
        _ transaction: (_ count: Int, _ work: () throws -> Void) throws -> Void
    ) throws {
        let maker = EmployeeMaker()
        for start in stride(from: 1, through: count, by: 100) {
            let rows = (start..<min(start + 100, count + 1)).map { id in
                PhotographedRow(employee: EmployeeRow(maker.employee(id)), photo: .init(Photo.bytes(id: id)))
            }
            try transaction(rows.count) { try peer.insert(rows) }
        }
    }

    // MARK: Checks

    func sums(_ peer: P) throws -> EmployeeSums {
        var sums = EmployeeSums()
        try peer.walk { sums.add($0) }
        return sums
    }

    /// Fails unless the first `count` employees exist, unchanged, and are found by their index.
    func checkInserted(_ peer: P, _ count: Int) throws {
        let expected = EmployeeSums(first: count)
        try check("sums", sums(peer), is: expected)
        try check("employees of department 42", peer.memberCount(of: 42), is: expected.departmentCount)
        let maker = EmployeeMaker()
        try peer.find([maker.email(count)]) { row in
            try check("name by e-mail", row.name, is: maker.employee(count).name)
        }
    }

    /// Fails unless all employees have their values after the five passes.
    func checkChurned(_ peer: P, _ count: Int) throws {
        let expected = ChurnChanges.outcome(n: count)
        var place = 0
        try peer.walk { row in
            try check("salary of \(place + 1)", row.salary, is: expected[place].salary)
            try check("notes of \(place + 1)", row.notes, is: expected[place].notes)
            place += 1
        }
        try check("employees", place, is: count)
    }

    func result(_ line: ResultLine) -> ResultLine {
        var line = line
        line.peer = name
        return line
    }
}
