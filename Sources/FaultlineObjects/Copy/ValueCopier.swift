internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Copies the values of a context's stored rows; makes no object.
struct ValueCopier {
    let context: ContextCore

    init(_ context: ContextCore) { self.context = context }

    /// A copy of a stored row's values; no object is made.
    ///
    /// Between `beginReading` and `endReading`.
    func valueCopy(
        _ number: RecordID, _ row: RowView, _ entity: EntityStorage, _ contents: ValueCopy.Contents
    ) throws -> ValueCopy {
        let properties = context.store.storage.schema.entities[entity.ordinal].properties
        var values = [String: PropertyValue](minimumCapacity: properties.count)
        for (slot, name) in properties.named(entity.hierarchy?.class(of: row)) {
            let property = properties[slot]
            switch entity.slots[slot] {
            case .attribute: values[name] = try attribute(row, slot, property, contents)
            case .toOne(let relationship):
                let target = row.toOne(slot)
                let isThere = try target != 0 && isStored(target, relationship.destination)
                values[name] = isThere ? value(row, slot, entity, property) : .null
            case .toMany(let relationship):
                guard contents.contains(.collections) else { continue }
                let members = try MemberReader(context).storedMembers(
                    of: number, in: relationship.members.index, at: context.snapshot)
                let destination = context.store.storage.entities[relationship.destination]
                values[name] = .objects(
                    try members.filter { try isStored($0.number, relationship.destination) }.map {
                        context.identifier(of: ObjectReference(number: $0.number, isTemporary: false), destination)
                    })
            }
        }
        return ValueCopy(
            id: context.identifier(of: ObjectReference(number: number, isTemporary: false), entity), values: values)
    }

    private func isStored(_ number: RecordID, _ ordinal: Int) throws -> Bool {
        try !context.snapshot.location(of: number, in: context.store.storage.entities[ordinal].table).isAbsent
    }

    private func attribute(
        _ row: RowView, _ slot: Int, _ property: any SchemaProperty, _ contents: ValueCopy.Contents
    ) throws -> PropertyValue {
        guard let attribute = property.asAttribute else { return .null }
        guard contents.contains(.largeValues), !row.isNil(slot), attribute.kind.isVariable,
            let blob = row.blobReference(slot)
        else { return PropertyValue(row, slot, attribute) }
        let bytes = try RowCache(context).blobBytes(blob, context.snapshot)
        return bytes.withUnsafeBytes { PropertyValue($0, attribute.kind) }
    }

    /// A value of a row, or of unsaved values; a collection has none.
    func value(
        _ row: some SlotValues, _ slot: Int, _ entity: EntityStorage, _ property: any SchemaProperty
    ) -> PropertyValue {
        if let attribute = property.asAttribute { return PropertyValue(row, slot, attribute) }
        guard case .toOne(let relationship) = entity.slots[slot], row.toOne(slot) != 0 else { return .null }
        return .object(
            context.identifier(
                of: ObjectReference(bits: row.toOne(slot)), context.store.storage.entities[relationship.destination]))
    }
}

extension [any SchemaProperty] {
    /// The slots of a class's properties, with the names that the class gives them; all properties without a class.
    fileprivate func named(_ ofClass: EntityHierarchy.Class?) -> [(slot: Int, name: String)] {
        guard let ofClass else { return enumerated().map { ($0.offset, $0.element.name) } }
        return zip(ofClass.slots, ofClass.names).map { ($0, $1) }
    }
}

extension AttributeKind {
    /// Whether values vary in size.
    fileprivate var isVariable: Bool { [.string, .url, .data, .codable].contains(self) }
}

extension PersistentModel {
    /// A copy of the object's current values, including unsaved changes.
    ///
    /// Loads the object if it is a fault.
    ///
    /// - Parameter contents: The contents of the copy beside attributes in the row and to-one relationships.
    /// - Returns: The copy; for a deleted object, a copy of its last values.
    /// - Throws: `StorageError` if the object cannot be read; `SwiftDataError.missingModelContext` if it is no longer
    ///   in the store.
    /// - Complexity: O(n) for n bytes of the contents; a fault for an object that is not loaded.
    public func valueCopy(including contents: ValueCopy.Contents = []) throws -> ValueCopy {
        let handle = ObjectHandle(self)
        guard let context = handle.core.pointee.context else {
            return try handle.valueCopy(contents) { slot in handle.detachedIdentifiers(slot) }
        }
        return try context.throwing {
            try context.beginReading()
            defer { context.endReading() }
            return try handle.valueCopy(contents) { try MemberReader(context).relatedIdentifiers(handle, $0) }
        }
    }
}

extension ObjectHandle {
    fileprivate func valueCopy(
        _ contents: ValueCopy.Contents, _ related: (Int) throws -> [PersistentIdentifier]
    ) throws -> ValueCopy {
        guard let type = core.pointee.modelType else { throw SwiftDataError.missingModelContext }
        let identifier = core.pointee.persistentIdentifier
        core.pointee.context?.errors.ofAccess = nil
        guard core.pointee.draft != nil || core.pointee.loadedRow() != nil else {
            throw core.pointee.context?.errors.ofAccess
                ?? SwiftDataError.missingModelContext.explained(
                    "\(identifier.entityName) \(core.pointee.number) has no values: it is not in the store any more.")
        }
        var values = [String: PropertyValue](minimumCapacity: type.properties.count)
        let ofClass = type.hierarchy.flatMap { hierarchy in
            core.pointee.place(in: hierarchy).map { hierarchy.classes[$0] }
        }
        for (slot, name) in type.properties.named(ofClass) {
            let property = type.properties[slot]
            if let attribute = property.asAttribute {
                if !attribute.isTransient { values[name] = try value(slot, attribute, contents) }
            } else if let relationship = property.asRelationship {
                if relationship.isToOneRelationship {
                    values[name] = try related(slot).first.map { .object($0) } ?? .null
                } else if contents.contains(.collections) {
                    values[name] = .objects(try related(slot))
                }
            }
        }
        return ValueCopy(id: identifier, values: values)
    }

    private func value(
        _ slot: Int, _ attribute: Schema.Attribute, _ contents: ValueCopy.Contents
    ) throws -> PropertyValue {
        let value: PropertyValue? =
            if let draft = core.pointee.draft { PropertyValue(draft, slot, attribute) } else {
                core.pointee.loadedRow().map { PropertyValue($0, slot, attribute) }
            }
        if case .outOfRow = value, contents.contains(.largeValues) {
            let bytes = core.pointee.withBytes(of: slot) { PropertyValue($0, attribute.kind) }
            if let bytes { return bytes }
        } else if let value {
            return value
        }
        throw core.pointee.context?.errors.ofAccess ?? SwiftDataError.missingModelContext
    }

    fileprivate func detachedIdentifiers(_ slot: Int) -> [PersistentIdentifier] {
        guard let extra = core.pointee.extraIfPresent else { return [] }
        if let target = core.pointee.detachedTarget(slot) { return [target.core.pointee.persistentIdentifier] }
        core.pointee.settleDetached(slot)
        return (extra.members[slot]?.objects(of: core.pointee.node) ?? []).compactMap {
            ($0 as? any PersistentModel)?.persistentModelID
        }
    }
}
