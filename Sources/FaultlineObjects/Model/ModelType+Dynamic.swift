internal import CFaultline
package import FaultlineModel
internal import FaultlineStore
internal import Synchronization

extension ModelType {
    /// Those made so far: one for each entity that the process has met without a class, and never more.
    private static let dynamicTypes = Mutex<[Schema.Entity: ModelType]>([:])

    /// What the library has to know of an entity whose objects have no class of their own.
    package static func dynamic(_ entity: Schema.Entity) -> ModelType {
        dynamicTypes.withLock { types in
            if let known = types[entity] { return known }
            let made = ModelType(
                ManagedObject.self, entity, maker: { ManagedObject(standInOf: $0) },
                defaults: { slot in
                    guard slot < entity.properties.count else { return nil }
                    return (entity.properties[slot] as? Schema.Attribute)?.defaultValue
                })
            types[entity] = made
            return made
        }
    }

    /// Whether the objects have no class of their own.
    var isDynamic: Bool { type == ManagedObject.self }

    /// The type of the fault that the library is about to make; nil if it makes none.
    static var pending: ModelType? {
        fl_pending_get()?.assumingMemoryBound(to: PendingFault.self).pointee.type.takeUnretainedValue()
    }
}

extension ContextCore {
    /// The type of an entity's dynamic objects, if the context has any.
    func dynamicType(named name: String) -> ModelType? {
        homes.first { $0.entityName == name }?.type.flatMap { $0.isDynamic ? $0 : nil }
    }
}

extension ModelCore {
    /// What messages call the object's class: a dynamic object's entity.
    var className: String {
        guard let type = modelType else { return "An object" }
        return type.isDynamic ? type.entityName : String(reflecting: type.type)
    }

    /// What a new object lacks: required attributes that have no default and were not set.
    ///
    /// An initializer of a class sees to that by itself. Marks are shared from slot 63 on: there one value that was set
    /// counts for all.
    var unsetAttributes: [String] {
        guard let type = modelType, type.isDynamic, let draft else { return [] }
        let set = draft.changedMask
        return type.entity.properties.enumerated().compactMap { slot, property in
            guard let attribute = property as? Schema.Attribute, !attribute.isOptional, !attribute.hasDefaultValue,
                !attribute.isTransient, set & SlotMask.bit(slot) == 0
            else { return nil }
            return "\(type.entityName).\(attribute.name): a required value is missing"
        }
    }
}
