internal import FaultlineLog
internal import FaultlineStore

extension ModelCore {
    /// Handles a large value that could not be read because a newer one has replaced it: a row, or the unchanged part
    /// of a draft, may be older than the context's state, in which another save has replaced the value.
    ///
    /// If the newest value is the same one, or is unreadable, that is reported here; only damage marks the object.
    ///
    /// - Parameters:
    ///   - slot: The slot.
    ///   - reference: The value to read.
    ///   - error: Why it could not be read.
    /// - Returns: Whether to read again, with the renewed row or draft.
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
                // A value that was set here cannot have been replaced by another save.
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
            // A missing row has been reported.
            guard let row = loadedRow() else { return false }
            (newest, isNil) = (row.blobReference(slot), row.isNil(slot))
        }
        if newest?.identifier == reference.identifier {
            report(.unreadable(error))
            return false
        }
        // The caller saw a value: now it is nil.
        if isNil { context.report(error) }
        return !isNil
    }
}

extension ContextCore {
    /// Reads the stored row of an object, regardless of its draft.
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
