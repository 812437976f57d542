internal import FaultlineLog

/// The parts of a stored row that an update or delete needs.
final class StoredRow {
    let blobs: [(slot: Int, identifier: UInt64)]
    /// Blobs of columns that the schema no longer has.
    let removedBlobs: [UInt64]
    /// For each member index of the entity: owner, and the order key if it is not the default.
    let memberships: [(owner: UInt64, order: UInt64?)]
    /// The row's keys in secondary and text indexes.
    let derivedKeys: DerivedKeys
    /// Whether the row is of an older layout than the one in force.
    let isOlder: Bool
    /// The row as a draft, if a change must be applied to it.
    var merged: Draft?

    /// Reads a row; `changed` has the slots that will change.
    init(
        _ view: RowView, _ id: RecordID, _ store: RowStore, entity: EntityStorage, changed: UInt64, isCopied: Bool
    ) {
        removedBlobs = store.removedBlobs(of: view, entity)
        blobs = entity.variableSlots.compactMap { slot in view.blobReference(slot).map { (slot, $0.identifier) } }
        memberships = entity.memberIndexes.map { (view.toOne($0.slot), view.orderKey($0.slot)) }
        isOlder = view.table.pointee.number != entity.layout.number
        let mask = isOlder || entity.mayMoveKeys ? SlotMask.all : changed
        derivedKeys =
            entity.hasDerivedKeys ? store.derivedKeys(of: view, id, entity, changed: mask) : .none
        merged = isCopied ? Draft.create(copying: view, layout: entity.layout) : nil
    }
}
