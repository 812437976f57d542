internal import FaultlineLog

/// Another save has come first: decisions from before the writer's turn must be made again.
struct ChangedMeanwhile: Error {}

/// The objects that the predicate of a batch selected, and the state it was evaluated in.
struct BatchSelection {
    /// How often a batch selects its objects before it fails.
    static let attemptMax = 32

    let table: TableID
    let numbers: [RecordID]
    let snapshot: Snapshot

    /// Checks, in the writer's turn, that each row is the one that the predicate was evaluated on.
    ///
    /// - Throws: `ChangedMeanwhile`; errors of the location table.
    /// - Complexity: Two look-ups in the location table for each object, and none if nothing was saved since.
    func check(in transaction: borrowing Transaction) throws {
        guard transaction.sequence - 1 != snapshot.sequence else { return }
        for number in numbers
        where try transaction.location(of: number, in: table) != snapshot.location(of: number, in: table) {
            throw ChangedMeanwhile()
        }
    }
}
