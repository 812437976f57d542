package import FaultlineLog

extension RowWriter {
    /// Writes a later version of a row without one of its references.
    ///
    /// - Parameters:
    ///   - slot: A to-one slot.
    ///   - target: The target that it must refer to.
    ///   - id: The object.
    ///   - entity: The object's entity.
    ///   - transaction: Where the row is written.
    /// - Returns: False if the row is gone, or refers to another target: then nothing is written.
    /// - Throws: The errors of `update`.
    package mutating func clear(
        _ slot: Int, leadingTo target: RecordID, id: RecordID, _ entity: EntityStorage,
        in transaction: inout Transaction
    ) throws(StoreError) -> Bool {
        var base: UInt64 = 0
        var found: Draft?
        do {
            let location = try transaction.location(of: id, in: entity.table)
            base = UInt64(location.segment) << 32 | UInt64(location.offset)
            let store = store
            found = try transaction.record(id, in: entity.table) { record -> Draft? in
                let view = try store.view(record, of: entity)
                return view.toOne(slot) == target ? Draft.create(copying: view, layout: entity.layout) : nil
            }.flatMap { $0 }
        } catch let error as LogError { throw StoreError(error) } catch let error as StoreError { throw error } catch {
            throw StoreError(.malformed, "\(error)")
        }
        guard let draft = found else { return false }
        defer { draft.destroy() }
        draft.setToOne(slot, 0)
        draft.setOrderKey(slot, nil)
        try releaseKeys(of: draft, id: id, entity, in: &transaction)
        try update(draft, id: id, base: base, entity, in: &transaction)
        return true
    }
}
