internal import CFaultline
package import FaultlineModel
internal import FaultlineStore

extension ModelType {
    /// Describes an entity whose objects have no class of their own.
    ///
    /// Made from a copy, so that it cannot be changed afterwards; a container makes one for each of its entities.
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

    /// Whether an entity is equal to the described one.
    func isOf(_ entity: Schema.Entity) -> Bool {
        if entity === described { return true }
        return entity == self.entity && entity.inheritsAs(self.entity)
    }

    /// The type of the fault that the library is making; nil if it makes none.
    static var pending: ModelType? {
        fl_pending_get()?.assumingMemoryBound(to: PendingFault.self).pointee.type.takeUnretainedValue()
    }
}

extension ModelCore {
    /// The name of the object's class in messages: for a dynamic object, its entity.
    var className: String {
        guard let type = modelType else { return "An object" }
        return type.isDynamic ? type.entityName : String(reflecting: type.type)
    }

    /// The reasons why an object cannot be saved: required attributes without a value.
    ///
    /// A new object lacks attributes that have no default and were not set; the initializer of a class prevents that,
    /// unless the object was made by the name of its entity. Any object may lack an encoded value if its default cannot
    /// be encoded here.
    var missingValues: [(name: String, text: String)] {
        guard let type = modelType, type.isDynamic || isMadeByName, let draft else { return [] }
        let ofClass = type.hierarchy?.class(of: draft)
        let added = ofClass?.requiredSlots.sorted().compactMap {
            RequiredValue(type.properties[$0], $0, isRequired: true)
        }
        return (type.requiredValues + (added ?? [])).compactMap { required in
            let slot = required.slot
            let isMissing =
                required.isEncoded
                ? draft.blobReference(slot) == nil && draft.variable(slot).isEmpty
                : has(.inserted) && !draft.isChanged(slot)
            guard isMissing, ofClass?.has(slot) != false else { return nil }
            let own = ofClass?.slots.firstIndex(of: slot)
            let name = own.flatMap { ofClass?.names[$0] } ?? type.properties[slot].name
            return (name, "\(ofClass?.name ?? type.entityName).\(name): a required value is missing")
        }
    }

    /// Whether the object is a new one of a class that was made by the name of its entity.
    private var isMadeByName: Bool { hasExtra && extraIfPresent?.isMadeByName == true }
}
