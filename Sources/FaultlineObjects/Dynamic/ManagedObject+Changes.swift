internal import FaultlineLog
internal import FaultlineModel

// An object's stored values and related identifiers, without making the related objects.

extension ManagedObject {
    /// The values of the properties that have unsaved changes, by name; for a new object, the values that were set.
    ///
    /// A property that was set to its old value counts as changed.
    ///
    /// - Complexity: O(p) for p properties, and the members of collections that were set.
    public func changedValues() -> [String: Any?] {
        guard let context = values.pointee.context else { return [:] }
        let changed = Set(context.changedSlots(ObjectHandle(self)))
        return values(of: properties.filter { changed.contains($0.slot) })
    }

    /// The stored values, by name, without later changes.
    ///
    /// Related objects are objects of this context; those that it has deleted are left out.
    ///
    /// - Parameter keys: The requested properties; nil for all.
    /// - Returns: Nothing for an object that was never saved.
    /// - Complexity: Reads the row again, by a context of its own: for a few objects, not for a walk.
    public func committedValues(forKeys keys: [String]? = nil) -> [String: Any?] {
        guard let context = values.pointee.context, !objectID.isTemporary else { return [:] }
        let wanted = keys.map { $0.compactMap { keyed($0) } } ?? properties
        let stored = context.contextOfStored()
        do {
            try context.beginReading()
            defer { context.endReading() }
            try stored.beginReading()
            defer { stored.endReading() }
            stored.moveTo(context.snapshot)
            guard let twin = Self.view(of: ObjectRegistry(stored).model(for: objectID)) else { return [:] }
            let values = twin.values(of: wanted)
            return twin.isDeleted ? [:] : values.mapValues { $0.flatMap { here($0, context) } }
        } catch {
            context.report(error)
            return [:]
        }
    }

    /// The object of this context for an object of another.
    private func here(_ value: Any, _ context: ContextCore) -> Any? {
        func object(_ other: ManagedObject) -> ManagedObject? {
            let object = Self.view(of: ObjectRegistry(context).model(for: other.objectID))
            return object?.isDeleted == true ? nil : object
        }
        switch value {
        case let target as ManagedObject: return object(target)
        case let members as [ManagedObject]: return members.compactMap(object)
        default: return value
        }
    }

    private func values(of wanted: [NamedProperty]) -> [String: Any?] {
        var values: [String: Any?] = [:]
        for named in wanted {
            values.updateValue(self.values.pointee.keyedValue(named.slot, named.property), forKey: named.name)
        }
        return values
    }

    /// All properties of the object's class.
    private var properties: [NamedProperty] {
        type.propertyNames(inClass: place).compactMap(found)
    }

    // MARK: Relationships

    /// Whether reading a relationship would read the store; the question itself reads nothing.
    ///
    /// A collection is read from its index each time, unless its members were set and are not saved. A to-one
    /// relationship is read with the row.
    public func hasFault(forRelationshipNamed key: String) -> Bool {
        guard let (slot, isToOne) = relationship(key), let context = values.pointee.context else {
            return false
        }
        if isToOne { return isFault }
        return !objectID.isTemporary && !MemberReader(context).hasAllMembers(ObjectHandle(self), slot)
    }

    /// The identifiers of the objects that a relationship leads to, in their order; none of them is made or loaded.
    ///
    /// - Returns: Empty if the entity has no such relationship, or if it cannot be read, which goes to the context's
    ///   `errorHandler`.
    /// - Complexity: O(m) for m objects; reads their part of the index, and no row of theirs.
    public func objectIDs(forRelationshipNamed key: String) -> [PersistentIdentifier] {
        guard let (slot, _) = relationship(key), let context = values.pointee.context else { return [] }
        do { return try MemberReader(context).relatedIdentifiers(ObjectHandle(self), slot) } catch {
            context.report(error)
            return []
        }
    }

    private func relationship(_ key: String) -> (slot: Int, isToOne: Bool)? {
        guard let found = keyed(key) else { return nil }
        guard let relationship = found.property.asRelationship else {
            report("\(entityName).\(key) is no relationship. Read it by value(forKey:).")
            return nil
        }
        return (found.slot, relationship.isToOneRelationship)
    }
}
