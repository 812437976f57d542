/// New values of one employee.
package struct EmployeeChange: Sendable {
    package var id: Int
    package var salary: Double
    /// 80 bytes, as the old ones.
    package var notes: String
}

/// Endless changes, the same ones each time: employee, salary and notes are drawn in turn.
package struct EndlessChanges: Sendable {
    /// The number of employees that one transaction changes.
    package static let batchSize = 10_000

    private let n: Int
    private let maker = EmployeeMaker()
    private var source = SplitMix64(0x10)

    /// - Parameter n: Employees in the store.
    package init(n: Int) {
        self.n = n
    }

    /// The changes of the next transaction; one employee may occur twice.
    package mutating func nextBatch() -> [EmployeeChange] {
        (0..<Self.batchSize).map { _ in
            let id = source.draw(below: n) + 1
            let salary = EmployeeMaker.salary(source.draw())
            return EmployeeChange(id: id, salary: salary, notes: maker.notes(source.draw()))
        }
    }

    /// Finds how many whole transactions a store has whose writer was killed.
    ///
    /// - Parameters:
    ///   - salaries: The salaries found, of employee 1, 2, 3, …
    ///   - notes: The notes found, of the same.
    ///   - limit: The number of transactions after which it stops: by default more than any store commits in the
    ///     writer's seconds.
    /// - Returns: The number of transactions that gives the employees found.
    /// - Throws: `.wrongResult` if no number of whole transactions does.
    package static func transactionCount(
        salaries: [Double],
        notes: [String],
        limit: Int = 4_000
    ) throws(BenchmarkError) -> Int {
        let n = salaries.count
        try check("notes", notes.count, is: n)
        let maker = EmployeeMaker()
        var isAsFound = [Bool](repeating: false, count: n + 1)
        var otherCount = 0
        for id in 1...max(n, 1) where id <= n {
            let values = maker.employee(id)
            isAsFound[id] = values.salary == salaries[id - 1] && values.notes == notes[id - 1]
            otherCount += isAsFound[id] ? 0 : 1
        }
        var changes = EndlessChanges(n: n)
        var count = 0
        while otherCount > 0 {
            guard count < limit else {
                throw BenchmarkError(.wrongResult, "\(otherCount) employees are not as whole transactions leave them")
            }
            for change in changes.nextBatch() {
                let matches = change.salary == salaries[change.id - 1] && change.notes == notes[change.id - 1]
                if matches != isAsFound[change.id] {
                    otherCount += matches ? -1 : 1
                    isAsFound[change.id] = matches
                }
            }
            count += 1
        }
        return count
    }
}

/// Five passes over all employees, each in a separate random order.
package struct ChurnChanges: Sendable {
    package static let passCount = 5
    package static let batchSize = 10_000

    /// All changes together.
    package let total: Int
    private let n: Int
    private let maker = EmployeeMaker()
    private var source = SplitMix64(0x12)
    private var order: [Int] = []
    private var pass = 0
    private var place = 0

    /// - Parameter n: Employees in the store.
    package init(n: Int) {
        self.n = n
        total = n * Self.passCount
    }

    /// The changes of the next transaction; empty after the last.
    package mutating func nextBatch() -> [EmployeeChange] {
        if place == order.count {
            guard pass < Self.passCount else { return [] }
            order = DrawnOrder.permutation(count: n, stream: UInt64(pass))
            pass += 1
            place = 0
        }
        let end = min(place + Self.batchSize, order.count)
        defer { place = end }
        return order[place..<end].map { id in
            let salary = EmployeeMaker.salary(source.draw())
            return EmployeeChange(id: id, salary: salary, notes: maker.notes(source.draw()))
        }
    }

    /// All employees after the last pass, by number less one.
    package static func outcome(n: Int) -> [EmployeeChange] {
        var outcome = [EmployeeChange](repeating: EmployeeChange(id: 0, salary: 0, notes: ""), count: n)
        var changes = ChurnChanges(n: n)
        while true {
            let batch = changes.nextBatch()
            if batch.isEmpty { return outcome }
            for change in batch { outcome[change.id - 1] = change }
        }
    }
}
