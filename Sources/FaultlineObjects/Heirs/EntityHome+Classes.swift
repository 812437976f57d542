internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

extension EntityHome {
    /// The condition that the rows of a class's objects meet; nil if all rows of the table are such.
    ///
    /// - Throws: `SwiftDataError.unknownSchema` if the container does not know the class.
    func filter<T: PersistentModel>(of type: T.Type, withSubclasses: Bool) throws -> RowFilter? {
        guard let family = self.type?.family else { return nil }
        guard let place = family.place(of: type._$modelType) else {
            throw SwiftDataError.unknownSchema.explained(
                "\(String(reflecting: type)) is not among the models of this container. Add it to the container's schema."
            )
        }
        let filter = family.hierarchy.filter(of: place, withSubclasses: withSubclasses)
        return filter == .always ? nil : filter
    }

    /// The rows whose objects `is` finds to be of a class; nil if rows do not tell.
    func filterOfClass(_ type: any Any.Type) -> RowFilter? {
        guard let model = ModelClasses.find(type)?._$modelType, ObjectIdentifier(model.type) == ObjectIdentifier(type),
            let family = self.type?.family
        else { return nil }
        return family.place(of: model).map { family.hierarchy.filter(of: $0) } ?? .never
    }
}

extension ContextCore {
    /// The slot of a property of a class in the objects of this context; nil for any other key path.
    func slot<T: PersistentModel>(of keyPath: AnyKeyPath, _ type: T.Type) -> Int? {
        (home(of: type._$modelType)?.type ?? type._$modelType).slots[keyPath]
    }
}

extension ContextCore {
    /// The position of the class of a stored object in a table with several; 0 for all other objects.
    func placeOfClass(_ key: StoredKey) throws -> Int {
        guard let entity = homes[key.ordinal].entity, let hierarchy = entity.hierarchy else { return 0 }
        try beginReading()
        defer { endReading() }
        var buffer = RecordBuffer()
        guard let record = try snapshot.read(key.number, in: entity.table, into: &buffer) else { return 0 }
        return hierarchy.place(of: try store.view(record, of: entity))
    }
}

extension ModelCore {
    /// The position of the object's class in a table with several, by its values; nil if they cannot be read.
    mutating func place(in hierarchy: EntityHierarchy) -> Int? {
        read({ hierarchy.place(of: $0) }, { hierarchy.place(of: $0) })
    }
}

extension ObjectHandle {
    /// The position of the object's class in a table with several; 0 for all other objects.
    var placeOfClass: Int {
        guard let family = core.pointee.modelType?.family,
            let type = ModelClasses.find(Swift.type(of: object))?._$modelType
        else { return 0 }
        return family.place(of: type) ?? 0
    }

    /// The slot of a property of the object's class, or of one that it inherits from.
    func slot<T: PersistentModel>(of keyPath: AnyKeyPath, _ type: T.Type) -> Int? {
        (core.pointee.modelType?.family == nil ? type._$modelType : core.pointee.modelType)?.slots[keyPath]
    }
}
