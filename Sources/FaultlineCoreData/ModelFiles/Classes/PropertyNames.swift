internal import FaultlineModel

/// The names that written classes give the properties of a version.
///
/// A class cannot have a property with the name of an inherited one. Two names of a model are one in Swift if they
/// differ in characters that Swift does not allow.
struct PropertyNames {
    /// By entity and property, inherited ones included.
    private var names: [String: [String: String]] = [:]

    init(of schema: Schema) {
        for entity in schema.entities { add(entity) }
    }

    /// The name of a property of an entity, own or inherited.
    func name(of property: String, in entity: String) -> String {
        names[entity]?[property] ?? SwiftName.property(property)
    }

    /// Chooses the names of an entity, after those of the entities that it inherits from.
    private mutating func add(_ entity: Schema.Entity) {
        guard names[entity.name] == nil else { return }
        names[entity.name] = [:]
        var own: [String: String] = [:]
        if let parent = entity.superentity {
            add(parent)
            own = names[parent.name] ?? [:]
        }
        var taken = Set(own.values)
        // A property keeps a name that Swift allows, in front of those that get one.
        let declared = entity.storedProperties.map(\.name)
        let (kept, changed) = (
            declared.filter { SwiftName.property($0) == $0 }, declared.filter { SwiftName.property($0) != $0 }
        )
        for property in kept + changed {
            var name = SwiftName.property(property)
            while !taken.insert(name).inserted { name += "_" }
            own[property] = name
        }
        names[entity.name] = own
    }
}
