internal import CFaultline
package import FaultlineModel
internal import FaultlineStore

extension ModelType {
    /// What the library has to know of an entity whose objects have no class of their own.
    ///
    /// Made of a copy, so that nobody can change it afterwards; a container makes one for each of its entities.
    package static func dynamic(_ entity: Schema.Entity) -> ModelType {
        let own = entity.copied()
        own.encodeDefaults()
        return ModelType(
            ManagedObject.self, own, described: entity, maker: { ManagedObject(standInOf: $0) },
            defaults: { slot in
                guard slot < own.properties.count else { return nil }
                return own.properties[slot].asAttribute?.defaultValue
            })
    }

    /// Whether an entity says what this one says.
    func isOf(_ entity: Schema.Entity) -> Bool {
        if entity === described { return true }
        return entity == self.entity && entity.inheritsAs(self.entity)
    }

    /// The type of the fault that the library is about to make; nil if it makes none.
    static var pending: ModelType? {
        fl_pending_get()?.assumingMemoryBound(to: PendingFault.self).pointee.type.takeUnretainedValue()
    }
}

extension ContextCore {
    /// The type of an entity's dynamic objects, if the context has any.
    func dynamicType(named name: String) -> ModelType? {
        home(named: name)?.type.flatMap { $0.isDynamic ? $0 : nil }
    }
}

extension ModelCore {
    /// What messages call the object's class: a dynamic object's entity.
    var className: String {
        guard let type = modelType else { return "An object" }
        return type.isDynamic ? type.entityName : String(reflecting: type.type)
    }

    /// Why an object may not be saved: it has no value of an attribute that is required.
    ///
    /// A new object lacks attributes that have no default and were not set; an initializer of a class sees to that by
    /// itself. Any object may lack an encoded value whose default nobody here knows how to write.
    var missingValues: [(name: String, text: String)] {
        guard let type = modelType, type.isDynamic, let draft else { return [] }
        return type.properties.enumerated().compactMap { slot, property in
            guard let attribute = property.asAttribute, !attribute.isOptional, !attribute.isTransient else {
                return nil
            }
            let isMissing =
                attribute.kind == .codable
                ? draft.blobReference(slot) == nil && draft.variable(slot).isEmpty
                : has(.inserted) && !attribute.hasDefaultValue && !draft.isChanged(slot)
            guard isMissing else { return nil }
            return (attribute.name, "\(type.entityName).\(attribute.name): a required value is missing")
        }
    }
}
