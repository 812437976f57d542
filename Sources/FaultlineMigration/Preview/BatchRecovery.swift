internal import FaultlineLog

/// Finds the objects of a batch that cannot be converted or saved, and converts the others.
///
/// An object whose code throws is found at once; an object that cannot be saved is found by halving the batch. Each
/// object is converted again a few times, so its code should depend on nothing else.
struct BatchRecovery {
    /// Converts an object, without saving.
    let convert: (RecordID) throws -> Void
    /// Saves the converted objects.
    let flush: () throws -> Void
    /// Drops unsaved objects.
    let discard: () -> Void
    /// Called with an object that failed; its error ends the search.
    let note: (RecordID, any Error) throws -> Void

    /// Converts and saves the objects of a batch, without those that fail.
    ///
    /// - Throws: Errors that no object causes; the error of `note`.
    /// - Complexity: O(n log n) conversions for n objects and each that fails.
    func run(_ batch: ArraySlice<RecordID>) throws {
        discard()
        guard !batch.isEmpty else { return }
        for place in batch.indices {
            do { try convert(batch[place]) } catch {
                guard PreviewFindings.isOfObject(error) else { throw error }
                // Its partial results are dropped together with those of the objects before it.
                try run(batch[..<place])
                try note(batch[place], error)
                return try run(batch[(place + 1)...])
            }
        }
        do { try flush() } catch {
            guard PreviewFindings.isOfObject(error) else { throw error }
            guard batch.count > 1 else {
                discard()
                return try note(batch[batch.startIndex], error)
            }
            let middle = batch.startIndex + batch.count / 2
            try run(batch[..<middle])
            try run(batch[middle...])
        }
    }
}
