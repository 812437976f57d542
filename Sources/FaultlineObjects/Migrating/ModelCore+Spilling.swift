internal import FaultlineLog
internal import FaultlineStore

/// A migration stage writes a large value to the store when an object in its context gets the value, so that an unsaved
/// object holds a reference of a hundred bytes, and not the value.
///
/// Each value is an upload. The save that writes the object places it; without a save its bytes are dead.
extension ModelCore {
    /// Writes all large values of an object that enters a context.
    mutating func spillLargeValues() {
        guard let entity = home.takeUnretainedValue().entity, let draft else { return }
        let large = entity.variableSlots.filter { draft.variable($0).count >= Draft.detachedByteCountMin }
        // A step may move the draft, so no pointer into it is kept.
        for slot in large { _ = spillLargeValue(slot) }
    }

    /// Writes a long value that the object just got, or counts it among those that a batch of a stage may hold.
    @inline(never)
    mutating func noteLongValue(_ slot: Int) {
        guard let context, context.rules.spillsLargeValues, let byteCount = draft?.variable(slot).count else { return }
        if byteCount >= Draft.detachedByteCountMin, spillLargeValue(slot) { return }
        // New objects are counted whole.
        if !has(.temporary) { context.rules.unsavedBytes.noteLongValue(byteCount) }
    }

    /// Writes a slot's value, which is large, unless an index key is made of its bytes.
    ///
    /// - Returns: False if the value stays in memory. It does after a failed write: the save writes it again, and throws.
    private mutating func spillLargeValue(_ slot: Int) -> Bool {
        guard let context, let entity = home.takeUnretainedValue().entity, let draft,
            draft.blobReference(slot) == nil, entity.maySpill(slot)
        else { return false }
        do throws(LogError) {
            let upload = try context.store.log.beginUpload()
            try upload.append(draft.variable(slot))
            let blob = GivenBlob(try upload.finish())
            setReference(to: blob.number, blob.byteCount, blob, slot)
            return true
        } catch {
            return false
        }
    }
}
