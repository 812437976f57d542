internal import FaultlineStore

/// Values of drafts that a save has replaced, in order to restore them if it fails.
struct ReplacedValues {
    /// References in drafts of objects that the context holds.
    private var targets: [(core: UnsafeMutablePointer<ModelCore>, slot: Int, bits: UInt64)] = []
    /// Order keys of drafts.
    private var orders: [(handle: ObjectHandle, slot: Int, key: UInt64?)] = []
    /// Slots that were not marked as set before, with the marks of their drafts' slots then.
    private var unmarked: [(core: UnsafeMutablePointer<ModelCore>, slot: Int, mask: UInt64)] = []

    mutating func noteTarget(_ core: UnsafeMutablePointer<ModelCore>, _ slot: Int, _ bits: UInt64) {
        noteMark(core, slot)
        targets.append((core, slot, bits))
    }

    private mutating func noteMark(_ core: UnsafeMutablePointer<ModelCore>, _ slot: Int) {
        guard let draft = core.pointee.draft, !draft.isChanged(slot) else { return }
        unmarked.append((core, slot, draft.changedMask))
    }

    /// Notes an order key that the save is about to replace.
    mutating func noteOrder(of handle: ObjectHandle, _ slot: Int) {
        noteMark(handle.core, slot)
        orders.append((handle, slot, handle.core.pointee.draft?.orderKey(slot)))
    }

    /// Clears a to-one slot of unsaved values, with the position that it had in a collection.
    mutating func clear(_ handle: ObjectHandle, _ slot: Int) {
        guard let draft = handle.core.pointee.draft else { return }
        noteOrder(of: handle, slot)
        noteTarget(handle.core, slot, draft.toOne(slot))
        draft.setToOne(slot, 0)
        draft.setOrderKey(slot, nil)
    }

    private var isEmpty: Bool { targets.isEmpty && orders.isEmpty && unmarked.isEmpty }

    /// Restores all values, the last one first.
    mutating func restore() {
        guard !isEmpty else { return }
        for (core, slot, bits) in targets.reversed() { core.pointee.draft?.setToOne(slot, bits) }
        for (handle, slot, key) in orders.reversed() { handle.core.pointee.draft?.setOrderKey(slot, key) }
        for (core, slot, mask) in unmarked.reversed() { core.pointee.draft?.takeBackMark(of: slot, mask: mask) }
        forget()
    }

    /// Keeps the values as the save has made them.
    mutating func forget() {
        guard !isEmpty else { return }
        targets.removeAll()
        orders.removeAll()
        unmarked.removeAll()
    }
}
