internal import FaultlineLog
internal import FaultlineStore
internal import Foundation

/// A migration stage writes a large value to the store when an object in its context gets the value, so that an unsaved
/// object holds a reference of a hundred bytes, and not the value.
///
/// Each value is an upload. The save that writes the object places it; without a save its bytes are dead.
extension ModelCore {
    /// Writes all large values of an object that enters a context.
    mutating func spillLargeValues() {
        if holdsLongValue { spillLongValues() }
        write { $0.trim() }
    }

    /// Whether the draft has a value that may be written to the store; takes no reference, for most objects have none.
    private var holdsLongValue: Bool {
        home._withUnsafeGuaranteedRef { home in
            home.entity?.variableSlots.contains { draftValue($0).count >= UnsavedBytes.spilledByteCountMin } ?? false
        }
    }

    private mutating func spillLongValues() {
        guard let context, let entity = home.takeUnretainedValue().entity else { return }
        let byteCountMin = context.rules.unsavedBytes.spilledByteCountMin
        // A step may move the draft, so no pointer into it is kept.
        for slot in entity.variableSlots where draftValue(slot).count >= UnsavedBytes.spilledByteCountMin {
            if draftValue(slot).count < byteCountMin || !spillDraftValue(slot) {
                context.rules.unsavedBytes.noteHeld(draftValue(slot).count)
            }
        }
    }

    /// The bytes that the draft has of a slot.
    private func draftValue(_ slot: Int) -> UnsafeRawBufferPointer {
        draft?.variable(slot) ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// Sets a slot to a long value by a reference, which is written to the store now; or counts it among those that a
    /// batch of a stage may hold.
    ///
    /// - Returns: False if the draft must get the bytes.
    @inline(never)
    mutating func spill(_ bytes: UnsafeRawBufferPointer, _ slot: Int) -> Bool {
        guard draftPointer != nil else { return canonicalCore?.pointee.spill(bytes, slot) ?? false }
        guard let context, context.rules.spillsLargeValues else { return false }
        if bytes.count >= context.rules.unsavedBytes.spilledByteCountMin, let blob = upload(bytes, slot) {
            setReference(to: blob.number, blob.byteCount, blob, slot)
            return true
        }
        noteHeld(bytes.count)
        return false
    }

    /// Writes a long text that the object just got, or counts it, in the same way.
    @inline(never)
    mutating func noteLongText(_ slot: Int) {
        guard draftPointer != nil else { return canonicalCore?.pointee.noteLongText(slot) ?? () }
        guard let context, context.rules.spillsLargeValues else { return }
        let byteCount = draftValue(slot).count
        if byteCount < context.rules.unsavedBytes.spilledByteCountMin || !spillDraftValue(slot) { noteHeld(byteCount) }
    }

    private mutating func spillDraftValue(_ slot: Int) -> Bool {
        guard draft?.blobReference(slot) == nil, let blob = upload(draftValue(slot), slot) else { return false }
        setReference(to: blob.number, blob.byteCount, blob, slot)
        write { $0.trim() }
        return true
    }

    private func noteHeld(_ byteCount: Int) {
        context?.rules.unsavedBytes.noteHeld(byteCount)
        // New objects are counted whole.
        if !has(.temporary) { context?.rules.unsavedBytes.noteLongValue(byteCount) }
    }

    /// Writes a slot's value to the store, unless an index key is made of its bytes.
    ///
    /// - Returns: Nil if the value stays in memory. It does after a failed write: the save writes it again, and throws.
    private func upload(_ bytes: UnsafeRawBufferPointer, _ slot: Int) -> GivenBlob? {
        guard let context, let entity = home.takeUnretainedValue().entity, entity.maySpill(slot) else { return nil }
        do throws(LogError) {
            let upload = try context.store.log.beginUpload()
            try upload.append(bytes)
            return GivenBlob(try upload.finish())
        } catch {
            return nil
        }
    }

    // MARK: Values that were read

    /// The value of a large slot, if the stage has read it last; lets go of another one.
    func readValue(_ reference: BlobReference, by reader: ContextCore, in stage: StageSession) -> Data? {
        if let data = ReadValues.data(of: reference, by: reader, in: ObjectIdentifier(stage)) { return data }
        stage.forgetReadValue()
        return nil
    }

    /// Keeps the value that a stage has read last.
    func keepReadValue(_ data: Data, _ reference: BlobReference, by reader: ContextCore, in stage: StageSession) {
        ReadValues.keep(
            data, reference, of: home._withUnsafeGuaranteedRef { $0.entityName }, by: reader,
            in: ObjectIdentifier(stage))
    }

    /// Sets a slot to a reference to the stored value that was read as `data` by a context of a migration stage.
    ///
    /// - Returns: False if `data` is no such value, or was modified, or its bytes are needed: then they must be written.
    @inline(never)
    mutating func refer(toReadValue data: Data, _ slot: Int) -> Bool {
        guard let draft else { return canonicalCore?.pointee.refer(toReadValue: data, slot) ?? false }
        guard let value = ReadValues.find(data), let reader = value.reader as? ContextCore,
            home.takeUnretainedValue().entity?.maySpill(slot) ?? true
        else { return false }
        if reader.rules.isReadOnly {
            guard mayRefer(to: reader) else { return false }
            reader.rules.willRefer?(value.reference.identifier, value.entityName)
            setReference(to: value.reference.identifier, value.reference.byteCount, reader, slot)
            return true
        }
        // The object may have the value already.
        if context === reader, draft.blobReference(slot)?.identifier == value.reference.identifier { return true }
        guard let given = try? reader.given(value.reference) else { return false }
        setReference(to: given.number, given.byteCount, given, slot)
        return true
    }
}
