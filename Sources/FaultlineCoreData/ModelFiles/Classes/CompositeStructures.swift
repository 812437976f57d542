internal import FaultlineModel

/// The names and parts of the structures that are written for composite attributes.
struct CompositeStructures {
    /// The name of the structure of each composite attribute, by its place, such as `Person.home`.
    private(set) var names: [String: String] = [:]
    /// The parts of each structure by its name.
    private(set) var parts: [String: [ModelVersion.Attribute]] = [:]
    /// The structures with names made of an entity, by hierarchy, attribute and type.
    private var unnamed: [String: [String]] = [:]

    /// Chooses the names: that of the model's type, or one made of entity and attribute.
    ///
    /// - Parameters:
    ///   - version: The version.
    ///   - taken: Names in lower case that others have, since files may not tell cases apart.
    init(of version: ModelVersion, apartFrom taken: Set<String>) {
        for entity in version.entities {
            for attribute in entity.attributes where attribute.type == .composite && !attribute.elements.isEmpty {
                let name = name(of: attribute, in: entity.name, version.schema.entitiesByName[entity.name], taken)
                names["\(entity.name).\(attribute.name)"] = name
                parts[name] = attribute.elements
            }
        }
    }

    private mutating func name(
        of attribute: ModelVersion.Attribute, in entity: String, _ inSchema: Schema.Entity?, _ taken: Set<String>
    ) -> String {
        let parts = parts
        func isFree(_ name: String) -> Bool {
            if let parts = parts[name] { return parts == attribute.elements }
            return !taken.contains(name.lowercased())
                && !parts.keys.contains { $0.lowercased() == name.lowercased() }
        }
        if let given = attribute.valueClassName.map(SwiftName.type), given != "NSDictionary", isFree(given) {
            return given
        }
        var name = SwiftName.type(entity + attribute.name.prefix(1).uppercased() + attribute.name.dropFirst())
        // Classes of a hierarchy share the column of an attribute that they declare alike.
        var root = inSchema
        while let parent = root?.superentity { root = parent }
        let place = "\(root?.name ?? entity).\(attribute.name) \(attribute.compositeTypeName)"
        if let same = unnamed[place]?.first(where: { parts[$0] == attribute.elements }) { return same }
        while !isFree(name) { name += "_" }
        unnamed[place, default: []].append(name)
        return name
    }
}
