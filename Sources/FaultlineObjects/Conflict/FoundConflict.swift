internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// A conflict that a save has found, until it is resolved.
final class FoundConflict {
    let key: ConflictWatch.Key
    /// Nil for an object that is only watched.
    let handle: ObjectHandle?
    let entity: EntityStorage
    let kind: MergeConflict.Kind
    /// The original values; a copy, because the watch changes while the conflict is resolved.
    let original: ConflictWatch.Original
    /// The values that another save has written; nil if it has deleted the object.
    let stored: Draft?
    /// Segment and offset of that row.
    let base: UInt64
    /// Slots that another save has changed.
    let slots: [Int]

    /// `stored` becomes the conflict's own.
    init(
        _ key: ConflictWatch.Key, _ handle: ObjectHandle?, _ entity: EntityStorage, _ kind: MergeConflict.Kind,
        _ original: ConflictWatch.Original, _ stored: Draft? = nil, _ base: UInt64 = 0
    ) {
        self.key = key
        self.handle = handle
        self.entity = entity
        self.kind = kind
        self.original = .init(draft: original.draft.copy(), base: original.base)
        self.stored = stored
        self.base = base
        slots = stored.map { Self.differences(original.draft, $0, entity) } ?? []
    }

    deinit {
        original.draft.destroy()
        stored?.destroy()
    }

    private static func differences(_ one: Draft, _ other: Draft, _ entity: EntityStorage) -> [Int] {
        entity.slots.indices.filter { isDifferent(one, other, $0, entity) }
    }

    private static func isDifferent(_ one: Draft, _ other: Draft, _ slot: Int, _ entity: EntityStorage) -> Bool {
        switch entity.slots[slot] {
        case .attribute: !RowKeys.isEqual(one, other, slot, entity.layout)
        case .toOne: one.toOne(slot) != other.toOne(slot)
        case .toMany: false
        }
    }

    /// Whether a slot was set in unsaved values.
    func isChangedHere(_ slot: Int, _ draft: Draft) -> Bool {
        if case .toMany = entity.slots[slot] { return false }
        return draft.isChanged(slot)
    }

    // MARK: Describing

    /// The conflict as a value.
    func described(by context: ContextCore) -> MergeConflict {
        let draft = handle.flatMap { $0.core.pointee.draft } ?? original.draft
        let named =
            kind == .deletedElsewhere ? entity.slots.indices.filter { isChangedHere($0, draft) } : slots
        let properties = context.store.storage.schema.entities[entity.ordinal].properties
        return MergeConflict(
            object: context.identifier(of: ObjectReference(number: key.number, isTemporary: false), entity), kind: kind,
            properties: named.map { slot in
                func value(_ draft: Draft) -> PropertyValue {
                    ValueCopier(context).value(draft, slot, entity, properties[slot])
                }
                return .init(
                    name: properties[slot].name,
                    read: original.draft.isChanged(slot) ? nil : value(original.draft),
                    stored: stored.map(value), unsaved: kind == .deletedHere ? nil : value(draft),
                    isChangedHere: kind != .deletedHere && isChangedHere(slot, draft))
            })
    }
}
