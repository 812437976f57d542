internal import FaultlineModel
internal import FaultlineStore

extension ManagedObject {
    /// Copies an attribute from the row of an old object to a new object, without making a value of it.
    ///
    /// Both attributes must be of one kind, and stored.
    ///
    /// - Returns: False if nothing was copied, because the value must be read and set: the value is nil, a URL, bytes,
    ///   encoded, large, or a default that the row lacks; or the old object was changed in memory, or its row cannot be
    ///   read.
    package func copyValue(forKey key: String, from old: ManagedObject, _ oldKey: String) -> Bool {
        guard let slot = type.slotsByName[key], let oldSlot = old.type.slotsByName[oldKey],
            type.layout.columns[slot].kind == old.type.layout.columns[oldSlot].kind,
            Self.plainRow(of: old, oldSlot) != nil
        else { return false }
        let core = _$coreAddress()
        guard core.pointee._$beginChange(slot), let row = Self.plainRow(of: old, oldSlot) else { return false }
        if type.layout.columns[slot].isVariable {
            core.pointee.write { $0.setUTF8(slot, row.variable(oldSlot)) }
        } else {
            core.pointee.write { $0.copyValue(of: row, slot: oldSlot, into: slot) }
        }
        core.pointee.context?.reports.walked.copiedValues += 1
        return true
    }

    /// The loaded row of an object, if it has a value of a property that can be copied.
    private static func plainRow(of object: ManagedObject, _ slot: Int) -> RowView? {
        let core = object._$coreAddress()
        guard core.pointee.draftPointer == nil, let row = core.pointee.loadedRow(), !row.isNil(slot),
            !row.isDefault(slot)
        else { return nil }
        let column = object.type.layout.columns[slot]
        guard column.isVariable else { return row }
        guard column.kind == .attribute(.string), row.blobReference(slot) == nil,
            row.variable(slot).count < Draft.detachedByteCountMin
        else { return nil }
        return row
    }
}
