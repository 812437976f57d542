internal import FaultlineLog
internal import FaultlineStore

/// What one save has done so far, in order to finish it or to undo it.
struct SavingState {
    /// An object whose unique keys this save has entered.
    struct KeyOwner: Hashable {
        let entity: Int
        let number: RecordID
    }

    /// An inserted object whose unique keys a number has.
    struct KeyHolder {
        let place: Int
        /// Targets in its keys that are not its own, but those of the object whose place it takes.
        var kept: [KeptTarget] = []
    }

    /// A relationship that an object keeps when a new one takes its place.
    struct KeptTarget {
        let slot: Int
        let number: RecordID
    }

    /// By place in `inserted`; 0 for an object that is not written.
    var numbers: [RecordID] = []
    /// Places of objects that take the place of a stored one.
    var upserts: Set<Int> = []
    /// Temporary references that were replaced in drafts of objects that the context holds.
    private var replaced: [(core: UnsafeMutablePointer<ModelCore>, slot: Int, bits: UInt64)] = []
    /// Order keys of drafts before the save set others.
    private var orders: [(handle: ObjectHandle, slot: Int, key: UInt64?)] = []
    /// The last inserted object that entered keys for a number, where an entity has several uniqueness constraints.
    var keyHolders: [KeyOwner: KeyHolder] = [:]
    /// Objects that are alive and unchanged, and whose rows the save has changed: the slot that was cleared.
    var cleared: [(handle: ObjectHandle, slot: Int)] = []
    /// Rows of which the save has cleared a reference, by ordinal of the entity.
    var clearedCounts: [Int: Int] = [:]
    /// These rows; none unless somebody is to be told.
    var clearedRows: [(number: RecordID, entity: EntityStorage)] = []
    /// Places of inserted objects by temporary number; made when first needed.
    private var places: [UInt64: Int]?

    /// The number that an object has when it is saved; 0 if it is not, or not known yet.
    mutating func number(_ reference: ObjectReference, _ inserted: [ObjectHandle]) -> RecordID {
        guard reference.isTemporary else { return reference.number }
        if places == nil {
            var made = [UInt64: Int](minimumCapacity: inserted.count)
            for (place, handle) in inserted.enumerated() { made[handle.core.pointee.number] = place }
            places = made
        }
        return places?[reference.number].map { numbers[$0] } ?? 0
    }

    /// Replaces temporary numbers in a draft by the final ones.
    ///
    /// - Returns: False if one of them is not known yet; it stays.
    @discardableResult
    mutating func resolve(
        _ core: UnsafeMutablePointer<ModelCore>, _ entity: EntityStorage, _ inserted: [ObjectHandle], isLast: Bool
    ) -> Bool {
        guard let draft = core.pointee.draft else { return true }
        var isDone = true
        for slot in entity.toOneSlots {
            let reference = ObjectReference(bits: draft.toOne(slot))
            guard reference.isTemporary else { continue }
            let final = number(reference, inserted)
            if final == 0, !isLast {
                isDone = false
                continue
            }
            replaced.append((core, slot, reference.bits))
            draft.setToOne(slot, final)
        }
        return isDone
    }

    /// Whether a new object has taken the place of a changed one, so that the keys are entered which both together
    /// have.
    func hasKeys(_ number: RecordID, _ entity: EntityStorage) -> Bool {
        !keyHolders.isEmpty && keyHolders[KeyOwner(entity: entity.ordinal, number: number)] != nil
    }

    /// Clears a to-one slot of unsaved values, with the place that it had in a collection.
    mutating func clear(_ handle: ObjectHandle, _ slot: Int) {
        guard let draft = handle.core.pointee.draft else { return }
        noteOrder(of: handle, slot)
        replaced.append((handle.core, slot, draft.toOne(slot)))
        draft.setToOne(slot, 0)
        draft.setOrderKey(slot, nil)
    }

    /// Notes an order key that the save is about to replace.
    mutating func noteOrder(of handle: ObjectHandle, _ slot: Int) {
        orders.append((handle, slot, handle.core.pointee.draft?.orderKey(slot)))
    }

    /// Puts back what the save has replaced in drafts, after it failed.
    mutating func restoreDrafts() {
        for (core, slot, bits) in replaced.reversed() { core.pointee.draft?.setToOne(slot, bits) }
        for (handle, slot, key) in orders.reversed() { handle.core.pointee.draft?.setOrderKey(slot, key) }
        forgetReplaced()
    }

    /// Nothing is to be put back any more.
    mutating func forgetReplaced() {
        replaced.removeAll()
        orders.removeAll()
    }
}
