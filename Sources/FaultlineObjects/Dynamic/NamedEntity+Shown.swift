internal import FaultlineModel
internal import FaultlineStore

extension NamedEntity {
    /// The entity as users see it; changing it has no effect.
    var shown: Schema.Entity { type.family == nil ? type.shown(inClass: place) : ofClass.shown(inClass: 0) }

    /// Whether a description is one of the entity.
    ///
    /// Names tell: a class is described by itself, while a schema knows inverses.
    func isOf(_ other: Schema.Entity) -> Bool {
        if type.isDynamic, place == 0 { return type.isOf(other) }
        return other.name == name && Set(other.properties.map(\.name)) == Set(type.propertyNames(inClass: place))
    }
}

extension ModelType {
    /// The entity of the objects of a class of the table as users see it: changing it has no effect.
    ///
    /// A container without classes shows the entity at the top of a table with the columns of all others.
    func shown(inClass place: Int) -> Schema.Entity {
        guard isDynamic else { return shownClass }
        guard let hierarchy, place > 0 else { return described }
        let ofClass = hierarchy.classes[place]
        let columns = entity.copied().properties
        let properties = zip(ofClass.slots, ofClass.names).map { slot, name in
            var property = columns[slot]
            property.name = name
            if ofClass.requiredSlots.contains(slot) { property.asAttribute?.isOptional = false }
            return property
        }
        let shown = Schema.Entity(ofClass.name, subentities: [], properties: properties)
        shown.superentityName = hierarchy.classes[ofClass.parent].name
        return shown
    }

    /// A copy of a class's entity, with the inverses of its relationships.
    private var shownClass: Schema.Entity {
        let shown = described.copied()
        shown.superentityName = parent?.entityName
        for (slot, property) in shown.properties.enumerated() {
            guard let relationship = property.asRelationship, relationship.inverseName == nil,
                let inverse = inverse(of: slot),
                let destination = Self.destination(of: relationship.valueType)?.model._$modelType,
                inverse.slot < destination.properties.count
            else { continue }
            relationship.inverseName = destination.properties[inverse.slot].name
        }
        return shown
    }
}
