/// The names and parts of the structures that are written for composite attributes.
struct CompositeStructures {
    /// The name of the structure of each composite attribute, by its place, such as `Person.home`.
    private(set) var names: [String: String] = [:]
    /// The parts of each structure by its name.
    private(set) var parts: [String: [ModelVersion.Attribute]] = [:]

    /// Chooses the names: that of the model's type, or one made of entity and attribute.
    ///
    /// - Parameters:
    ///   - version: The version.
    ///   - taken: Names in lower case that others have, since files may not tell cases apart.
    init(of version: ModelVersion, apartFrom taken: Set<String>) {
        for entity in version.entities {
            for attribute in entity.attributes where attribute.type == .composite && !attribute.elements.isEmpty {
                let name = name(of: attribute, in: entity.name, taken)
                names["\(entity.name).\(attribute.name)"] = name
                parts[name] = attribute.elements
            }
        }
    }

    private func name(of attribute: ModelVersion.Attribute, in entity: String, _ taken: Set<String>) -> String {
        func isFree(_ name: String) -> Bool {
            if let parts = parts[name] { return parts == attribute.elements }
            return !taken.contains(name.lowercased())
                && !parts.keys.contains { $0.lowercased() == name.lowercased() }
        }
        if let given = attribute.valueClassName.map(SwiftName.type), given != "NSDictionary", isFree(given) {
            return given
        }
        var name = SwiftName.type(entity + attribute.name.prefix(1).uppercased() + attribute.name.dropFirst())
        while !isFree(name) { name += "_" }
        return name
    }
}
