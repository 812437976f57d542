internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// The values of one object in one state of the store, or with the unsaved changes of a context, to be compared with
/// those in another state.
struct UndoState {
    /// A value that can be compared between contexts.
    enum Value: Equatable {
        case inRow(PropertyValue)
        /// The bits of a floating-point value: no number is compared, because NaN equals none.
        case bits(UInt64)
        /// A large value, by its number in the store.
        case large(UInt64)
        /// The target of a to-one relationship, as `ObjectReference.bits`.
        case target(UInt64)
        /// The members of a collection in their order, as `ObjectReference.bits`.
        case members([UInt64])

        var isAttribute: Bool {
            switch self {
            case .inRow, .bits, .large: true
            case .target, .members: false
            }
        }
    }

    /// The values by slot.
    private var values: [Int: Value] = [:]

    subscript(slot: Int) -> Value? { values[slot] }

    mutating func leaveOut(_ slot: Int) { values[slot] = nil }

    /// The values in the order of the slots.
    var inOrder: [(slot: Int, value: Value)] { values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }

    /// The slots that have another value in another state, in ascending order.
    func slotsThatDiffer(from other: UndoState) -> [Int] { values.keys.filter { values[$0] != other[$0] }.sorted() }

    /// - Parameters:
    ///   - key: The object.
    ///   - slots: Those to read; nil for all.
    ///   - context: Reads the state; with its unsaved changes, if it has any.
    /// - Returns: Nil if the object is not there, or is to be deleted.
    /// - Throws: The store's error if the object cannot be read.
    static func read(_ key: StoredKey, _ slots: Set<Int>?, in context: ContextCore) throws -> UndoState? {
        let home = context.homes[key.ordinal]
        guard let entity = home.entity else { return nil }
        try context.beginReading()
        defer { context.endReading() }
        if let handle = ObjectRegistry(context).registeredHandle(key.number, home), handle.core.pointee.hasChanges {
            return try ofUnsaved(handle, slots, entity, context)
        }
        var buffer = RecordBuffer()
        guard let record = try context.snapshot.read(key.number, in: entity.table, into: &buffer) else { return nil }
        let row = try context.store.view(record, of: entity)
        var state = UndoState()
        try state.fill(slots, entity, context) { slot, attribute in
            Self.value(of: row, slot, attribute, entity)
        } target: {
            row.toOne($0)
        } members: { slot, relationship in
            let owner = ObjectReference(number: key.number, isTemporary: false)
            let collection = PendingRelationships.Key(entity: entity.ordinal, slot: slot, owner: owner)
            guard context.pending.members(collection) != nil,
                let handle = ObjectRegistry(context).anyObject(key.number, home).flatMap(home.handle(of:))
            else { return try MemberReader(context).storedMembers(of: key.number, relationship) }
            return MemberReader(context).references(of: handle, slot)
        }
        return state
    }

    private static func ofUnsaved(
        _ handle: ObjectHandle, _ slots: Set<Int>?, _ entity: EntityStorage, _ context: ContextCore
    ) throws -> UndoState? {
        guard !handle.core.pointee.isDeleted, let draft = handle.core.pointee.draft else { return nil }
        var state = UndoState()
        try state.fill(slots, entity, context) { slot, attribute in
            value(of: draft, slot, attribute, entity)
        } target: {
            draft.toOne($0)
        } members: { slot, _ in
            MemberReader(context).references(of: handle, slot)
        }
        return state
    }

    private static func value(
        of row: some SlotValues, _ slot: Int, _ attribute: Schema.Attribute, _ entity: EntityStorage
    ) -> Value {
        if entity.layout.columns[slot].isVariable, !row.isNil(slot), let blob = row.blobReference(slot) {
            return .large(blob.identifier)
        }
        guard !row.isNil(slot) else { return .inRow(.null) }
        return switch attribute.kind {
        case .float: .bits(UInt64(row.float(slot).bitPattern))
        case .double, .date: .bits(row.double(slot).bitPattern)
        default: .inRow(PropertyValue(row, slot, attribute))
        }
    }

    private mutating func fill(
        _ slots: Set<Int>?, _ entity: EntityStorage, _ context: ContextCore,
        attribute: (Int, Schema.Attribute) -> Value, target: (Int) -> UInt64,
        members: (Int, ToManyStorage) throws -> [UInt64]
    ) throws {
        let properties = context.store.storage.schema.entities[entity.ordinal].properties
        for (slot, storage) in entity.slots.enumerated() where slots?.contains(slot) ?? true {
            switch storage {
            case .attribute:
                guard let property = properties[slot].asAttribute, !property.isTransient else { continue }
                values[slot] = attribute(slot, property)
            case .toOne: values[slot] = .target(target(slot))
            case .toMany(let relationship): values[slot] = .members(try members(slot, relationship))
            }
        }
    }
}

extension MemberReader {
    /// The members of a collection with unsaved changes, as `ObjectReference.bits`.
    fileprivate func references(of owner: ObjectHandle, _ slot: Int) -> [UInt64] {
        guard let (_, relationship) = toMany(owner, slot) else { return [] }
        let destination = context.homes[relationship.destination]
        return memberObjects(of: owner, slot).compactMap { destination.core(of: $0)?.pointee.reference.bits }
    }
}
