internal import FaultlineModel
internal import FaultlineStore

/// A property by its name, with its slot in the table.
struct NamedProperty {
    let name: String
    let slot: Int
    let property: any SchemaProperty
}

/// An entity by its name in a context: of objects without a class, or of a class, whose objects may stand in a table with
/// those of others.
struct NamedEntity {
    let home: EntityHome
    let storage: EntityStorage
    /// Describes the objects of the table.
    let type: ModelType
    /// The position of the class in a table with several; 0 for all others.
    let place: Int

    /// Describes the objects of the entity.
    var ofClass: ModelType { type.family?.classes[place] ?? type }

    /// The class of the objects: `ManagedObject` for those without a class of their own.
    var model: any PersistentModel.Type { ofClass.type }

    /// The name of the entity.
    var name: String { type.entityName(inClass: place) }

    /// A property by its name; nil if the entity has none.
    ///
    /// Those of `propertyNames(inClass:)`.
    func property(named name: String) -> NamedProperty? {
        type.named(name, inClass: place) ?? (place == 0 ? type.column(named: name) : nil)
    }

    /// The message that the entity has no property of a name.
    func unknown(_ name: String) -> String { NearestName.unknown(name, among: shown) }

    /// The condition that the rows of the entity meet; nil if all rows of the table do.
    func filter(withSubentities: Bool) -> RowFilter? {
        guard let filter = type.hierarchy?.filter(of: place, withSubclasses: withSubentities), filter != .always else {
            return nil
        }
        return filter
    }

    /// Whether an object of the table is one of the entity.
    func has(_ handle: ObjectHandle, withSubentities: Bool) -> Bool {
        type.isObject(handle, ofClass: place, orSubclass: withSubentities)
    }
}

extension ModelType {
    /// The name of the entity of a class of the table.
    func entityName(inClass place: Int) -> String { hierarchy?.classes[place].name ?? entityName }

    /// The names of the properties of a class of the table.
    ///
    /// Without classes, the entity at the top of a table has the columns of all others too.
    func propertyNames(inClass place: Int) -> [String] {
        if let hierarchy, family != nil || place > 0 { return hierarchy.classes[place].names }
        return properties.map(\.name)
    }

    /// Whether an object of the table is one of a class.
    func isObject(_ handle: ObjectHandle, ofClass place: Int, orSubclass: Bool = true) -> Bool {
        guard let hierarchy, let found = handle.core.pointee.place(in: hierarchy) else { return true }
        return found == place || orSubclass && hierarchy.classes[place].family.contains(found)
    }

    /// A property by the name that a class of the table gives it; nil if the class has none.
    func named(_ name: String, inClass place: Int) -> NamedProperty? {
        if let family {
            let ofClass = family.classes[place]
            return ofClass.slotsByName[name].map {
                NamedProperty(name: name, slot: family.slots[place][$0], property: ofClass.properties[$0])
            }
        }
        return slot(named: name, inClass: place).map {
            NamedProperty(name: name, slot: $0, property: properties[$0])
        }
    }

    /// A column of the table by its name; nil for the table of classes, whose properties have names of their own.
    func column(named name: String) -> NamedProperty? {
        guard family == nil, let slot = slotsByName[name] else { return nil }
        return NamedProperty(name: name, slot: slot, property: properties[slot])
    }
}

extension ContextCore {
    /// The entity of a name.
    ///
    /// - Throws: `SwiftDataError.unknownSchema` if the container has no such entity, with the nearest name, or if the
    ///   store has no table for its objects.
    func entity(named name: String) throws -> NamedEntity {
        guard let home = home(named: name), let type = home.type else {
            let hint = NearestName.nearest(to: name, among: homes.names).map { "Did you mean \"\($0)\"?" } ?? ""
            throw SwiftDataError.unknownSchema.explained("The container has no entity \"\(name.excerpt)\". \(hint)")
        }
        return try entity(home, type, type.hierarchy?.place(of: name) ?? 0)
    }

    /// The entity of a class.
    ///
    /// - Throws: As `require(_:)`, and if the store has no table for its objects.
    func entity<T: PersistentModel>(of model: T.Type) throws -> NamedEntity {
        let home = try require(model)
        let type = home.type ?? T._$modelType
        return try entity(home, type, type.family?.place(of: T._$modelType) ?? 0)
    }

    private func entity(_ home: EntityHome, _ type: ModelType, _ place: Int) throws -> NamedEntity {
        guard let storage = home.entity else {
            throw SwiftDataError.unknownSchema.explained("\(home.entityName) has no table in this store.")
        }
        return NamedEntity(home: home, storage: storage, type: type, place: place)
    }
}
