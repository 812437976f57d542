/// The salaries that `w6` sets, 1,000 a transaction.
package struct SalaryChanges: Sendable {
    package static let batchSize = 1_000
    /// Numbers of employees, with repetitions.
    package let ids: [Int]
    package let salaries: [Double]

    /// - Parameter n: Employees in the store.
    package init(n: Int) {
        ids = DrawnOrder.ids(count: 100_000, bound: n, stream: 6)
        var draws = SplitMix64(0x6A)
        salaries = ids.map { _ in EmployeeMaker.salary(draws.draw()) }
    }

    /// The salaries of all `n` employees afterwards, by number less one.
    package func outcome(n: Int) -> [Double] {
        let maker = EmployeeMaker()
        var outcome = (1...n).map { maker.employee($0).salary }
        for (id, salary) in zip(ids, salaries) { outcome[id - 1] = salary }
        return outcome
    }
}
