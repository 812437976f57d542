internal import FaultlineModel
internal import FaultlineStore

extension ModelCore {
    /// The backing data of the object that this core belongs to.
    public func backingData<Model: PersistentModel>(of model: Model) -> any BackingData<Model> {
        ModelBackingData(model)
    }

    /// Copies the attributes of another object's backing data: this object becomes a copy in no context, without
    /// relationships.
    ///
    /// Backing data of no object gives its relationships too, and so does backing data of another type.
    ///
    /// Large values are read. Backing data of another entity changes nothing and makes the save of this object throw.
    public mutating func adopt<Model: PersistentModel>(_ backingData: any BackingData<Model>) {
        guard !has(.attached) else { return }
        guard let backing = backingData as? ModelBackingData<Model> else {
            let object = ObjectHandle(core: &self).object
            return (object as? Model)?.takeValues(of: backingData) ?? ()
        }
        let source = ObjectHandle(backing.model).core
        if withUnsafeMutablePointer(to: &self, { $0 }) == source { return }
        guard let type = modelType, source.pointee.modelType === type else {
            let name = source.pointee.modelType?.entityName ?? "nothing"
            return refuse("A \(modelType?.entityName ?? "object") was given the values of a \(name).")
        }
        guard let copy = source.pointee.copyOfAttributes(type) else {
            return refuse("A \(type.entityName) was given the values of an object that cannot be read.")
        }
        dropDraft()
        draftPointer = copy.block
        _$awakeFromFetch(backing.model)
        let given = (source.pointee.canonicalCore ?? source).pointee.extraIfPresent
        if let given, !given.ephemerals.isEmpty { extra.ephemerals = given.ephemerals }
        guard let held = backing.held else { return }
        if let refusal = given?.refusal { refuse(refusal.error, refusal.slot) }
        held.give(to: ObjectHandle(core: &self), of: type)
    }

    /// A copy of the object's attributes for an object in no context; nil if they cannot be read.
    private mutating func copyOfAttributes(_ type: ModelType) -> Draft? {
        let table = type.layout.table
        let isStored = has(.attached) && !has(.inserted)
        var copy: Draft
        if let draft {
            copy = draft.withRow(table) { Draft.create(copying: $0, layout: type.layout) }
            for slot in 0..<type.properties.count where draft.isChanged(slot) { copy.mark(slot) }
        } else if let row = loadedRow() {
            copy = Draft.create(copying: row, layout: type.layout)
        } else if isStored {
            return nil
        } else {
            copy = Draft.create(layout: type.layout)
        }
        if isStored { copy.markAll() }
        for (slot, column) in type.layout.columns.enumerated() {
            if column.kind == .toOne {
                copy.setToOne(slot, 0)
                if copy.orderKey(slot) != nil { copy.setOrderKey(slot, nil) }
            } else if column.isVariable, copy.blobReference(slot) != nil {
                let isRead: Void? = withBytes(of: slot) { bytes in
                    if column.kind.isText { copy.setUTF8(slot, bytes) } else { copy.setBytes(slot, bytes) }
                }
                guard isRead != nil else {
                    copy.destroy()
                    return nil
                }
            }
        }
        return copy
    }
}

extension PersistentModel {
    /// Sets all properties to the values that backing data of any type returns.
    fileprivate func takeValues(of backing: any BackingData<Self>) {
        let type = Self._$modelType
        for (keyPath, slot) in type.slots.sorted(by: { $0.value < $1.value }) {
            let property = type.properties[slot]
            func target<V: PersistentModel>(_ type: V.Type) {
                if let keyPath = keyPath as? KeyPath<Self, V?> {
                    setValue(forKey: keyPath, to: backing.getValue(forKey: keyPath))
                } else if let keyPath = keyPath as? KeyPath<Self, V> {
                    setValue(forKey: keyPath, to: backing.getValue(forKey: keyPath))
                }
            }
            func members<V: RelationshipCollection>(_ type: V.Type) {
                guard let keyPath = keyPath as? KeyPath<Self, V> else { return }
                setValue(forKey: keyPath, to: backing.getValue(forKey: keyPath))
            }
            func encoded<V: Codable>(_ type: V.Type) {
                guard let keyPath = keyPath as? KeyPath<Self, V> else { return }
                setValue(forKey: keyPath, to: backing.getValue(forKey: keyPath))
            }
            func other<V>(_ type: V.Type) {
                guard let keyPath = keyPath as? KeyPath<Self, V> else { return }
                setTransformableValue(forKey: keyPath, to: backing.getTransformableValue(forKey: keyPath))
            }
            let wrapped = (property.valueType as? any OptionalValue.Type)?.wrappedType ?? property.valueType
            if !property.isRelationship {
                if let type = property.valueType as? any Codable.Type {
                    encoded(type)
                } else {
                    other(property.valueType)
                }
            } else if let type = property.valueType as? any RelationshipCollection.Type {
                members(type)
            } else if let type = wrapped as? any PersistentModel.Type {
                target(type)
            }
        }
    }
}
