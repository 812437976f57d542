internal import FaultlineLog
internal import FaultlineStore

extension ModelCore {
    /// Looks whether a value out of the row that could not be read is another by now: a row, or the unchanged part of a
    /// draft, may be older than the state that the context reads, in which others have replaced the value.
    ///
    /// What is neither another value nor read is reported here; only damage marks the object.
    ///
    /// - Parameters:
    ///   - slot: The slot.
    ///   - reference: The value that was to be read.
    ///   - error: Why it was not.
    /// - Returns: Whether to read again, from what the row or the draft says now.
    mutating func renewValue(_ slot: Int, insteadOf reference: BlobReference, _ error: LogError) -> Bool {
        guard error.code == .missing, has(.attached), !has(.temporary), !has(.gone), let context,
            let entity = home.takeUnretainedValue().entity
        else {
            report(.unreadable(error))
            return false
        }
        let newest: BlobReference?
        let isNil: Bool
        if let draftPointer {
            var draft = Draft(block: draftPointer)
            do {
                // A value that was set here is nobody else's.
                guard !draft.isChanged(slot), try context.withStoredRow(number, entity, { draft.renew(slot, from: $0) })
                else {
                    context.report(error)
                    return false
                }
            } catch {
                context.report(error)
                return false
            }
            self.draftPointer = draft.block
            (newest, isNil) = (draft.blobReference(slot), draft.isNil(slot))
        } else {
            row = .none
            // What is not there any more has been reported.
            guard let row = loadedRow() else { return false }
            (newest, isNil) = (row.blobReference(slot), row.isNil(slot))
        }
        if newest?.identifier == reference.identifier {
            report(.unreadable(error))
            return false
        }
        // Whoever asked took it for a value: the next answer is nil.
        if isNil { context.report(error) }
        return !isNil
    }
}

extension ContextCore {
    /// Reads the stored row of an object, whatever its draft says.
    ///
    /// - Returns: False if there is none.
    fileprivate func withStoredRow(
        _ number: RecordID, _ entity: EntityStorage, _ body: (RowView) -> Void
    ) throws -> Bool {
        try beginReading()
        defer { endReading() }
        var buffer = RecordBuffer()
        guard let record = try snapshot.read(number, in: entity.table, into: &buffer) else { return false }
        body(try store.view(record, of: entity))
        return true
    }
}
