#if Import
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore
internal import Foundation

extension StoreMapping.Entity {
    /// A row with the class of the entity's objects and the values of required attributes: their defaults, or zero.
    func blankRow() -> Draft {
        var draft = Draft.create(layout: storage.layout)
        let held = storage.hierarchy?.classes[place].requiredSlots ?? []
        for (slot, property) in zip(slots, properties) {
            guard let attribute = property.asAttribute, !attribute.isOptional else { continue }
            // The column of a subclass is nil in rows of other classes, and so in one without values.
            if held.contains(slot) { draft.setZero(slot, attribute.kind) }
            if attribute.hasDefaultValue {
                DefaultValues.set(attribute, slot: slot, draft: &draft)
            } else if attribute.kind == .codable, let empty = try? CodableValue(CompositeValue.members([])) {
                empty.bytes.withUnsafeBytes { draft.setBytes(slot, $0) }
            }
        }
        storage.hierarchy?.setClass(of: &draft, to: place)
        draft.clearMarks()
        return draft
    }
}

extension Draft {
    /// Sets a slot to the value that a required column without one has.
    fileprivate mutating func setZero(_ slot: Int, _ kind: AttributeKind) {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        switch kind {
        case .bool: setBool(slot, false)
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: setInt64(slot, 0)
        case .float: setFloat(slot, 0)
        case .double, .date: setDouble(slot, 0)
        case .uuid: setUUID(slot, (0, 0))
        case .decimal: setDecimal(slot, Decimal(0).stored)
        case .string, .url: setUTF8(slot, nothing)
        case .data, .codable: setBytes(slot, nothing)
        }
    }
}
#endif
