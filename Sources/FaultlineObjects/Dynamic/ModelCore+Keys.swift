internal import FaultlineModel
internal import FaultlineStore
internal import Foundation

/// Why a property cannot have a value: the rest of a sentence that begins with the property.
struct KeyedValueError: Error {
    let message: String
}

extension ModelCore {
    /// The value of a slot, boxed; nil for nil and where it cannot be read.
    mutating func keyedValue(_ slot: Int, _ property: any SchemaProperty) -> Any? {
        if let relationship = property as? Schema.Relationship {
            if relationship.isToOneRelationship {
                let target: ManagedObject? = value(slot)
                return target
            }
            let members: [ManagedObject] = value(slot)
            return members
        }
        guard let attribute = property as? Schema.Attribute, !_$isNil(slot) else { return nil }
        return switch attribute.kind {
        case .bool: Bool._$read(&self, slot)
        case .int8: Int8._$read(&self, slot)
        case .int16: Int16._$read(&self, slot)
        case .int32: Int32._$read(&self, slot)
        case .int64: attribute.valueTypeName == "Int64" ? Int64._$read(&self, slot) : Int._$read(&self, slot)
        case .uint8: UInt8._$read(&self, slot)
        case .uint16: UInt16._$read(&self, slot)
        case .uint32: UInt32._$read(&self, slot)
        case .uint64: attribute.valueTypeName == "UInt64" ? UInt64._$read(&self, slot) : UInt._$read(&self, slot)
        case .float: Float._$read(&self, slot)
        case .double: Double._$read(&self, slot)
        case .date: Date._$read(&self, slot)
        case .uuid: UUID._$read(&self, slot)
        case .decimal: Decimal._$read(&self, slot)
        case .string: String._$read(&self, slot)
        case .url: URL._$read(&self, slot)
        case .data: Data._$read(&self, slot)
        case .codable: withBytes(of: slot) { CodableValue($0) }
        }
    }

    /// Sets a slot to a boxed value.
    ///
    /// - Throws: If the property cannot have the value; nothing was changed then.
    mutating func setKeyedValue(_ slot: Int, _ property: any SchemaProperty, to value: Any?) throws(KeyedValueError) {
        let value = value.flatMap(unwrapped)
        if let relationship = property as? Schema.Relationship {
            return try setRelated(slot, relationship, to: value)
        }
        guard let attribute = property as? Schema.Attribute else { return }
        guard let value else {
            guard attribute.isOptional else { throw KeyedValueError(message: "is required, and was set to nil.") }
            if _$beginChange(slot) { _$writeNil(slot) }
            return
        }
        if let blob = value as? Blob, attribute.kind == .data { return setBlob(blob, of: slot) }
        try setAttribute(slot, attribute, to: value)
    }

    // MARK: Attributes

    private mutating func setAttribute(
        _ slot: Int, _ attribute: Schema.Attribute, to value: Any
    ) throws(KeyedValueError) {
        switch (attribute.kind, value) {
        case (.bool, let value as Bool): put(slot, value)
        case (.int8, _): try putInteger(slot, value, as: Int8.self)
        case (.int16, _): try putInteger(slot, value, as: Int16.self)
        case (.int32, _): try putInteger(slot, value, as: Int32.self)
        case (.int64, _): try putInteger(slot, value, as: Int.self)
        case (.uint8, _): try putInteger(slot, value, as: UInt8.self)
        case (.uint16, _): try putInteger(slot, value, as: UInt16.self)
        case (.uint32, _): try putInteger(slot, value, as: UInt32.self)
        case (.uint64, _): try putInteger(slot, value, as: UInt.self)
        case (.float, let value as Float): put(slot, value)
        case (.float, let value as Double): put(slot, Float(value))
        case (.double, let value as Double): put(slot, value)
        case (.double, let value as Float): put(slot, Double(value))
        case (.float, let value as any BinaryInteger): put(slot, try exactly(value, Float.init(exactly:)))
        case (.double, let value as any BinaryInteger): put(slot, try exactly(value, Double.init(exactly:)))
        case (.decimal, let value as Decimal): put(slot, value)
        case (.decimal, let value as any BinaryInteger):
            guard let number = Decimal(string: value.description) else { throw mismatch(value, "Decimal") }
            put(slot, number)
        case (.date, let value as Date): put(slot, value)
        case (.uuid, let value as UUID): put(slot, value)
        case (.string, let value as String): put(slot, value)
        case (.string, let value as Substring): put(slot, String(value))
        case (.url, let value as URL): put(slot, value)
        case (.data, let value as Data): put(slot, value)
        case (.codable, let value as CodableValue): putBytes(slot, value.bytes)
        case (.codable, let value as any Encodable):
            do { putBytes(slot, try CodableValue(value).bytes) } catch {
                throw KeyedValueError(message: "was set to a value that does not encode: \(error).")
            }
        case (_, let value as any RawRepresentable): try setAttribute(slot, attribute, to: rawValue(of: value))
        default: throw mismatch(value, attribute.valueTypeName)
        }
    }

    private mutating func put<V: StoredScalar>(_ slot: Int, _ value: V) {
        if _$beginChange(slot) { V._$write(value, &self, slot) }
    }

    private mutating func putBytes(_ slot: Int, _ bytes: [UInt8]) {
        guard _$beginChange(slot) else { return }
        write { draft in bytes.withUnsafeBytes { draft.setBytes(slot, $0) } }
    }

    private mutating func putInteger<I: StoredInteger>(
        _ slot: Int, _ value: Any, as type: I.Type
    ) throws(KeyedValueError) {
        if let raw = value as? any RawRepresentable { return try putInteger(slot, rawValue(of: raw), as: type) }
        guard let integer = value as? any BinaryInteger else { throw mismatch(value, "\(I.self)") }
        put(slot, try exactly(integer, I.init(exactly:)))
    }

    private func exactly<I: BinaryInteger, V>(_ value: I, _ convert: (Int128) -> V?) throws(KeyedValueError) -> V {
        guard let wide = Int128(exactly: value), let converted = convert(wide) else {
            throw KeyedValueError(message: "was set to \(value), which \(V.self) does not hold exactly.")
        }
        return converted
    }

    private func mismatch(_ value: Any, _ wanted: String) -> KeyedValueError {
        KeyedValueError(message: "holds \(wanted), and was set to a value of type \(type(of: value)).")
    }

    // MARK: Relationships

    private mutating func setRelated(
        _ slot: Int, _ relationship: Schema.Relationship, to value: Any?
    ) throws(KeyedValueError) {
        func check(_ object: ManagedObject) throws(KeyedValueError) {
            guard object.entity.name != relationship.destination else { return }
            throw KeyedValueError(
                message: "leads to \(relationship.destination), and was given a \(object.entity.name).")
        }
        if relationship.isToOneRelationship {
            guard let value else { return setValue(slot, to: ManagedObject?.none) }
            guard let target = value as? ManagedObject else { throw mismatch(value, relationship.destination) }
            try check(target)
            return setValue(slot, to: Optional(target))
        }
        let members: [ManagedObject]
        switch value {
        case nil: members = []
        case let array as [ManagedObject]: members = array
        // In the order of identity, so that the same set gives the same order each time.
        case let set as Set<ManagedObject>: members = set.sorted { $0.objectID < $1.objectID }
        default: throw mismatch(value as Any, "[\(relationship.destination)]")
        }
        for member in members { try check(member) }
        setValue(slot, to: members)
    }
}

/// The raw value of an enum case or the like, without knowing its type.
private func rawValue(of value: any RawRepresentable) -> Any { value.rawValue }

/// The value inside any number of optionals; nil if one of them is nil.
private func unwrapped(_ value: Any) -> Any? {
    guard let optional = value as? any OptionalNil else { return value }
    return optional.isNilValue ? nil : optional.wrapped.flatMap(unwrapped)
}
