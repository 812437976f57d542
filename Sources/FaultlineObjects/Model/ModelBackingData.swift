internal import FaultlineStore

/// The backing data of an object: a reference to it.
public struct ModelBackingData<Model: PersistentModel>: BackingData {
    private let model: Model?

    init(_ model: Model) { self.model = model }

    /// Backing data of no object: it has no identifier and returns no values.
    public init(for modelType: Model.Type) { model = nil }

    /// The identifier of the object; setting it does nothing.
    public var persistentModelID: PersistentIdentifier? {
        get { model?.persistentModelID }
        set {}
    }

    /// The properties of the class, as `Schema.PropertyMetadata`.
    public var metadata: Any { Model.schemaMetadata }

    func takeValues() -> Model? { model }
}

extension ModelCore {
    /// The backing data of the object that this core belongs to.
    public func backingData<Model: PersistentModel>(of model: Model) -> any BackingData<Model> {
        ModelBackingData(model)
    }

    /// Copies the attributes of another object's backing data: this object becomes a copy in no context, without
    /// relationships.
    ///
    /// Large values are read. Backing data of another entity changes nothing and makes the save of this object throw.
    public mutating func adopt<Model: PersistentModel>(_ backingData: any BackingData<Model>) {
        guard let other = (backingData as? ModelBackingData<Model>)?.takeValues(), !has(.attached) else { return }
        let source = ObjectHandle(other).core
        guard let type = modelType, source.pointee.modelType === type else {
            let name = source.pointee.modelType?.entityName ?? "nothing"
            return refuse("A \(modelType?.entityName ?? "object") was given the values of a \(name).")
        }
        guard let copy = source.pointee.copyOfAttributes(type) else {
            return refuse("A \(type.entityName) was given the values of an object that cannot be read.")
        }
        dropDraft()
        draftPointer = copy.block
        if let given = source.pointee.extraIfPresent?.ephemerals, !given.isEmpty { extra.ephemerals = given }
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
