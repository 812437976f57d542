internal import FaultlineLog

/// Others have saved in between: what was decided before the writer's turn has to be decided again.
struct ChangedMeanwhile: Error {}

/// The objects of a batch, as they were when its predicate was asked.
struct BatchSelection {
    /// How often a batch selects its objects before it is given up.
    static let attemptMax = 32

    let table: TableID
    let numbers: [RecordID]
    let snapshot: Snapshot

    /// Makes sure, in the writer's turn, that no row is another than the one that the predicate was asked of.
    ///
    /// - Throws: `ChangedMeanwhile`; what the location table says.
    /// - Complexity: Two looks into the location table for each object, and none where nobody has saved since.
    func check(in transaction: borrowing Transaction) throws {
        guard transaction.sequence - 1 != snapshot.sequence else { return }
        for number in numbers
        where try transaction.location(of: number, in: table) != snapshot.location(of: number, in: table) {
            throw ChangedMeanwhile()
        }
    }
}
