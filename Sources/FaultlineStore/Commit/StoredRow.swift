internal import FaultlineLog

/// The parts of a stored row that an update or delete needs.
final class StoredRow {
    let blobs: [(slot: Int, identifier: UInt64)]
    /// Blobs of columns that the schema no longer has.
    let removedBlobs: [UInt64]
    /// For each member index of the entity: owner, and the order key if it is not the default.
    let memberships: [(owner: UInt64, order: UInt64?)]
    /// For each secondary index of the entity: the key of the row.
    let secondaryKeys: [[UInt8]]
    /// Whether the row is of an older layout than the one in force.
    let isOlder: Bool
    /// The row as a draft, if a change must be applied to it.
    var merged: Draft?

    init(_ view: RowView, _ store: RowStore, entity: EntityStorage, isCopied: Bool) {
        removedBlobs = store.removedBlobs(of: view, entity)
        blobs = entity.variableSlots.compactMap { slot in view.blobReference(slot).map { (slot, $0.identifier) } }
        memberships = entity.memberIndexes.map { (view.toOne($0.slot), view.orderKey($0.slot)) }
        secondaryKeys = entity.secondaryIndexes.isEmpty ? [] : store.secondaryKeys(of: view, entity)
        isOlder = view.table.pointee.number != entity.layout.number
        merged = isCopied ? Draft.create(copying: view, layout: entity.layout) : nil
    }
}
