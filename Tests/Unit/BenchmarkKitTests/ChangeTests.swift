import BenchmarkKit
import Testing

@Suite struct ChangeTests {
    /// The employees as they are before any change.
    static func untouched(_ n: Int) -> (salaries: [Double], notes: [String]) {
        let maker = EmployeeMaker()
        let all = (1...n).map { maker.employee($0) }
        return (all.map(\.salary), all.map(\.notes))
    }

    @Test(arguments: [0, 1, 3]) func wholeTransactionsAreCounted(count: Int) throws {
        var (salaries, notes) = Self.untouched(5_000)
        var changes = EndlessChanges(n: 5_000)
        for _ in 0..<count {
            for change in changes.nextBatch() {
                salaries[change.id - 1] = change.salary
                notes[change.id - 1] = change.notes
            }
        }

        #expect(try EndlessChanges.transactionCount(salaries: salaries, notes: notes) == count)
    }

    @Test func aTornTransactionIsRefused() throws {
        var (salaries, notes) = Self.untouched(50)
        var changes = EndlessChanges(n: 50)
        for change in changes.nextBatch().prefix(10) {
            salaries[change.id - 1] = change.salary
            notes[change.id - 1] = change.notes
        }

        let error = #expect(throws: BenchmarkError.self) {
            try EndlessChanges.transactionCount(salaries: salaries, notes: notes, limit: 5)
        }
        #expect(error?.code == .wrongResult)
    }

    @Test func churnChangesEachEmployeeOnceAPass() {
        let n = 25_000
        var changes = ChurnChanges(n: n)
        #expect(changes.total == 125_000)
        var last: [EmployeeChange] = []
        for _ in 0..<ChurnChanges.passCount {
            let batches = (0..<3).map { _ in changes.nextBatch() }
            #expect(batches.map(\.count) == [10_000, 10_000, 5_000])
            last = batches.flatMap { $0 }
            #expect(last.map(\.id).sorted() == Array(1...n))
        }
        #expect(changes.nextBatch().isEmpty)

        let outcome = ChurnChanges.outcome(n: n)
        #expect(last.allSatisfy { outcome[$0.id - 1].salary == $0.salary && outcome[$0.id - 1].notes == $0.notes })
        #expect(last.allSatisfy { $0.notes.utf8.count == 80 })
    }

    @Test func salariesEndAsTheyWereSetLast() {
        let changes = SalaryChanges(n: 1_000)
        let outcome = changes.outcome(n: 1_000)

        let last = changes.ids.lastIndex(of: 7)
        #expect(last.map { changes.salaries[$0] } == outcome[6])
        #expect(changes.ids == DrawnOrder.ids(count: 100_000, bound: 1_000, stream: 6))
    }
}
