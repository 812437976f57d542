package import FaultlineModel
package import FaultlineStore
internal import Foundation

/// Default values of attributes, as rows that lack the attribute have them.
package enum DefaultValues {
    /// Writes an attribute's default into a slot of a draft.
    package static func set(_ attribute: Schema.Attribute, slot: Int, draft: inout Draft) {
        guard let value = attribute.defaultValue else { return }
        if let optional = value as? any OptionalNil, optional.isNilValue { return }
        if draft.set(value, slot) { return }
        if let raw = value as? any RawRepresentable, draft.set(rawValue(raw), slot) { return }
        if let encodable = value as? any Encodable,
            let bytes = try? NestedEncoder.encode(encodable, scalars: FoundationScalars())
        {
            bytes.withUnsafeBytes { draft.setBytes(slot, $0) }
        }
    }

    private static func rawValue(_ value: any RawRepresentable) -> Any {
        func open<R: RawRepresentable>(_ value: R) -> Any { value.rawValue }
        return open(value)
    }

    /// Checks that the layouts of model classes have the places of the layouts in force: unsaved objects are written in
    /// the one and saved as the other.
    package static func checkLayouts(_ store: RowStore, _ types: [ModelType]) throws {
        for type in types {
            guard let entity = store.storage.entity(named: type.entityName) else { continue }
            let isSame =
                type.layout.fixedByteCount == entity.layout.fixedByteCount
                && type.layout.columns.count == entity.layout.columns.count
                && zip(type.layout.columns, entity.layout.columns).allSatisfy {
                    $0.kind == $1.kind && $0.offset == $1.offset && $0.width == $1.width && $0.nilBit == $1.nilBit
                        && $0.ordinal == $1.ordinal
                }
            guard isSame else {
                throw StoreError(
                    .schemaMismatch,
                    "The class \(type.entityName) does not have the properties that the container's schema gives its entity. Make the schema from the classes."
                )
            }
        }
    }
}

extension Draft {
    /// Writes a scalar that is known at run time only; false if it is none.
    fileprivate mutating func set(_ value: Any, _ slot: Int) -> Bool {
        switch value {
        case let value as Bool: setBool(slot, value)
        case let value as any FixedWidthInteger: setInt64(slot, Int64(truncatingIfNeeded: value))
        case let value as Double: setDouble(slot, value)
        case let value as Float: setFloat(slot, value)
        case let value as Date: setDate(slot, value.timeIntervalSinceReferenceDate)
        case let value as UUID: setUUID(slot, value.storedWords)
        case let value as Decimal: setDecimal(slot, value.stored)
        case let value as String: setString(slot, value)
        case let value as URL: setString(slot, value.absoluteString)
        case let value as Data: value.withUnsafeBytes { setBytes(slot, $0) }
        default: return false
        }
        return true
    }
}
