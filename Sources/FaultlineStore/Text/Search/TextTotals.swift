/// The number of documents of a text index, and of the words in each field.
package struct TextTotals: Sendable, Equatable {
    package private(set) var documentCount = 0
    package private(set) var lengths: [Int]

    init(fieldCount: Int) { lengths = Array(repeating: 0, count: fieldCount) }

    /// Adds the lengths of an object.
    ///
    /// - Returns: False if the sum is none that a store can have.
    mutating func add(_ document: [Int]) -> Bool {
        documentCount += 1
        var isPossible = true
        for field in lengths.indices {
            let (sum, isTooLarge) = lengths[field].addingReportingOverflow(document[field])
            lengths[field] = sum
            if isTooLarge { isPossible = false }
        }
        return isPossible
    }

    /// The totals with the sums of changes; nil if no store can have them.
    func changed(by change: TextTotalsChange) -> TextTotals? {
        var totals = self
        totals.documentCount += change.documentCount
        for field in lengths.indices {
            let (sum, isTooLarge) = lengths[field].addingReportingOverflow(change.lengths[field])
            if isTooLarge || sum < 0 { return nil }
            totals.lengths[field] = sum
        }
        return totals.documentCount < 0 ? nil : totals
    }

    /// Takes the lengths of an object away that were added.
    ///
    /// - Returns: False if they cannot have been added.
    mutating func remove(_ document: [Int]) -> Bool {
        documentCount -= 1
        var isPossible = documentCount >= 0
        for field in lengths.indices {
            let (rest, isTooSmall) = lengths[field].subtractingReportingOverflow(document[field])
            lengths[field] = rest
            if isTooSmall || rest < 0 { isPossible = false }
        }
        return isPossible
    }
}
