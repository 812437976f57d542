internal import FaultlineModel
internal import FaultlineStore
internal import Foundation

/// Why a property cannot have a value: the rest of a sentence that begins with the property's name.
struct KeyedValueError: Error {
    let message: String
}

extension ModelCore {
    /// The value of a slot, boxed; nil for nil, and if it cannot be read.
    mutating func keyedValue(_ slot: Int, _ property: any SchemaProperty) -> Any? {
        if let relationship = property.asRelationship {
            return relationship.isToOneRelationship
                ? target(slot).flatMap { ManagedObject.view(of: $0) } : viewedMembers(slot)
        }
        guard let attribute = property.asAttribute else { return nil }
        if attribute.isTransient { return keyedEphemeral(slot, attribute) }
        if _$isNil(slot) { return nil }
        // A large value may be unreadable although the row is not: nil then, never the empty value.
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
        case .string: withBytes(of: slot) { String(decoding: $0, as: UTF8.self) }
        case .url: url(of: slot)
        case .data: data(of: slot)
        // No bytes are the encoding of no value: a row older than the attribute reads so if the default is unknown.
        case .codable: withBytes(of: slot) { $0.isEmpty ? nil : CodableValue($0) } ?? nil
        }
    }

    /// Sets a slot to a boxed value.
    ///
    /// - Throws: If the property cannot have the value; nothing was changed then.
    mutating func setKeyedValue(_ slot: Int, _ property: any SchemaProperty, to value: Any?) throws(KeyedValueError) {
        if !has(.attached) { forgetRefusal(slot) }
        let attribute = property.asAttribute
        if let value, let attribute, !attribute.isTransient, setOwnType(slot, attribute.kind, to: value) { return }
        let value = value.flatMap(unwrapped)
        if let relationship = property.asRelationship {
            return try setRelated(slot, relationship, to: value)
        }
        guard let attribute else { return }
        if attribute.isTransient { return try setKeyedEphemeral(slot, attribute, to: value) }
        guard let value else {
            guard attribute.isOptional else { throw KeyedValueError(message: "is required, and was set to nil.") }
            if _$beginChange(slot) { _$writeNil(slot) }
            return
        }
        if let blob = value as? Blob, attribute.kind == .data {
            setBlob(blob, of: slot)
        } else {
            try setAttribute(slot, attribute, to: value)
        }
    }

    /// Checks that the object is of a class that has a property and may have a value of it, and that the class stays.
    mutating func checkClass(_ slot: Int, _ type: ModelType, _ value: Any?) throws(KeyedValueError) {
        guard let hierarchy = type.hierarchy else { return }
        guard !hierarchy.marks.contains(slot) else {
            throw KeyedValueError(message: "tells the class of the object, which never changes.")
        }
        let ofObject = hierarchy.classes[place(in: hierarchy) ?? 0]
        guard !ofObject.has(slot) else {
            guard ofObject.requiredSlots.contains(slot), value.flatMap(unwrapped) == nil else { return }
            throw KeyedValueError(message: "is required, and was set to nil.")
        }
        throw KeyedValueError(message: "is a property of another class: the object is a \(ofObject.name).")
    }

    // MARK: Attributes

    /// Sets a value of the very type that the kind is read as, as `setAttribute` does, without looking up conformances;
    /// false, without effect, for all others.
    private mutating func setOwnType(_ slot: Int, _ kind: AttributeKind, to value: Any) -> Bool {
        switch kind {
        case .string:
            guard let text = value as? String else { return false }
            if _$beginChange(slot) { String._$write(text, &self, slot) }
        case .int64:
            guard let number = value as? Int else { return false }
            if _$beginChange(slot) { write { $0.setInt64(slot, Int64(number)) } }
        case .double:
            guard let number = value as? Double else { return false }
            if _$beginChange(slot) { write { $0.setDouble(slot, number) } }
        case .bool:
            guard let flag = value as? Bool else { return false }
            if _$beginChange(slot) { write { $0.setBool(slot, flag) } }
        case .date:
            guard let date = value as? Date else { return false }
            if _$beginChange(slot) { write { $0.setDate(slot, date.timeIntervalSinceReferenceDate) } }
        default: return false
        }
        return true
    }

    private mutating func setAttribute(
        _ slot: Int, _ attribute: Schema.Attribute, to value: Any
    ) throws(KeyedValueError) {
        if attribute.kind == .codable, let value = value as? CodableValue { return putBytes(slot, value.bytes) }
        let fitted: AttributeValue
        do throws(AttributeValue.Misfit) { fitted = try AttributeValue(value, kind: attribute.kind) } catch {
            throw switch error {
            case .wrongType: mismatch(value, attribute.valueTypeName)
            case .outOfRange:
                KeyedValueError(
                    message: "was set to \(value), which \(attribute.kind.defaultValueType) does not hold exactly.")
            }
        }
        if case .encodable(let value) = fitted {
            do { putBytes(slot, try CodableValue(value).bytes) } catch {
                throw KeyedValueError(message: "was set to a value that does not encode: \(error).")
            }
        } else if _$beginChange(slot) {
            switch fitted {
            // As the setters of classes, so that a migration stage spills them.
            case .data(let data): Data._$write(data, &self, slot)
            case .string(let text): String._$write(text, &self, slot)
            default: write { $0.set(fitted, slot) }
            }
        }
    }

    private mutating func putBytes(_ slot: Int, _ bytes: [UInt8]) {
        guard _$beginChange(slot) else { return }
        write { draft in bytes.withUnsafeBytes { draft.setBytes(slot, $0) } }
    }

    private func mismatch(_ value: Any, _ wanted: String) -> KeyedValueError {
        KeyedValueError(message: "holds \(wanted), and was set to a value of type \(type(of: value)).")
    }

    // MARK: Relationships

    /// The members of a to-many slot.
    mutating func members(_ slot: Int) -> [ObjectHandle] {
        noteRead(slot)
        guard has(.attached), let context else {
            settleDetached(slot)
            return (extraIfPresent?.members[slot]?.objects(of: node) ?? []).compactMap(ObjectHandle.init(object:))
        }
        context.settleMembers()
        let members = MemberReader(context).memberObjects(of: ObjectHandle(core: &self), slot)
        return members.compactMap(ObjectHandle.init(object:))
    }

    /// The members of a to-many slot, by names.
    mutating func viewedMembers(_ slot: Int) -> [ManagedObject] {
        modelType?.isDynamic == true ? value(slot) : members(slot).map { ManagedObject.view(of: $0) }
    }

    private mutating func setRelated(
        _ slot: Int, _ relationship: Schema.Relationship, to value: Any?
    ) throws(KeyedValueError) {
        let fit = RelationshipFit(relationship, of: modelType)
        if relationship.isToOneRelationship {
            guard let value else { return setTarget(slot, nil) }
            return setTarget(slot, try fit.handle(of: value))
        }
        let members: [Any]
        switch value {
        case nil: members = []
        case let array as [any PersistentModel]: members = array
        // In the order of identity, so that equal sets give the same order each time.
        case let set as any ModelSet: members = set.inOrder
        default: throw mismatch(value as Any, "[\(relationship.destination)]")
        }
        var handles: [ObjectHandle] = []
        for member in members { handles.append(try fit.handle(of: member)) }
        setMembers(slot, handles)
    }
}

/// A set of models of any class.
private protocol ModelSet {
    /// The members in the order of identity.
    var inOrder: [any PersistentModel] { get }
}

extension Set: ModelSet where Element: PersistentModel {
    fileprivate var inOrder: [any PersistentModel] { sorted { $0.persistentModelID < $1.persistentModelID } }
}

/// The value inside any number of optionals; nil if one of them is nil.
func unwrapped(_ value: Any) -> Any? {
    guard let optional = value as? any OptionalNil else { return value }
    return optional.isNilValue ? nil : optional.wrapped.flatMap(unwrapped)
}
