internal import FaultlineLog
internal import FaultlineStore

/// The values of an object at one moment: they do not change with the store.
final class UndoValues {
    /// The target of a to-one relationship, or a member of a collection.
    enum Target {
        case none
        /// An object that was stored at that moment.
        case stored(ordinal: Int, RecordID)
        /// An object that was not saved at that moment.
        case unsaved(ObjectHandle)

        init(of handle: ObjectHandle, _ ordinal: Int) {
            let reference = handle.reference
            self = reference.isTemporary ? .unsaved(handle) : .stored(ordinal: ordinal, reference.number)
        }

        func isSame(as other: Target) -> Bool {
            switch (self, other) {
            case (.none, .none): true
            case (.stored(let ordinal, let number), .stored(let otherOrdinal, let otherNumber)):
                ordinal == otherOrdinal && number == otherNumber
            case (.unsaved(let handle), .unsaved(let other)): handle.object === other.object
            default: false
            }
        }
    }

    private let draft: Draft
    private let layout: RowLayout
    /// Large values that are out of the row.
    private var blobs: [Int: Blob] = [:]
    private var targets: [Int: Target] = [:]

    /// - Parameters:
    ///   - draft: The values, which are copied.
    ///   - handle: The object.
    ///   - entity: Its entity.
    ///   - context: Finds targets, and the places of large values.
    init(copying draft: Draft, of handle: ObjectHandle, _ entity: EntityStorage, in context: ContextCore) {
        self.draft = draft.copy()
        layout = entity.layout
        for slot in entity.variableSlots where !draft.isNil(slot) && draft.blobReference(slot) != nil {
            blobs[slot] = Self.blob(draft, slot, handle, context)
        }
        for slot in entity.toOneSlots {
            targets[slot] = Self.target(
                ObjectReference(bits: draft.toOne(slot)), entity.toOneDestinations[slot], context)
        }
    }

    deinit { draft.destroy() }

    private static func blob(
        _ draft: Draft, _ slot: Int, _ handle: ObjectHandle, _ context: ContextCore
    ) -> Blob? {
        guard let reference = draft.blobReference(slot),
            let source = handle.core.pointee.blobSource(slot, reference)
        else { return nil }
        do throws(LogError) { return try source.blob(reference) } catch {
            return Blob(place: .unreadable(reference, error))
        }
    }

    private static func target(_ reference: ObjectReference, _ ordinal: Int, _ context: ContextCore) -> Target {
        if reference.isNil { return .none }
        guard reference.isTemporary else { return .stored(ordinal: ordinal, reference.number) }
        return context.pending.insertedObject(reference.number).map { .unsaved($0) } ?? .none
    }

    func target(_ slot: Int) -> Target { targets[slot] ?? .none }

    /// Whether a draft has another value in a slot.
    func differs(from other: Draft, _ slot: Int, _ storage: SlotStorage) -> Bool {
        switch storage {
        case .attribute: !draft.hasSameBytes(as: other, slot: slot)
        case .toOne: draft.toOne(slot) != other.toOne(slot)
        case .toMany: false
        }
    }

    /// Sets an attribute of an object to the value.
    func set(_ slot: Int, of handle: ObjectHandle) {
        if let blob = blobs[slot] { return handle.core.pointee.setBlob(blob, of: slot) }
        guard handle.core.pointee._$beginChange(slot) else { return }
        handle.core.pointee.write { $0.takeValue(of: draft, slot: slot, layout: layout) }
    }
}
