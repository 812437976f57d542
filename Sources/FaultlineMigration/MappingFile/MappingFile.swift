package import FaultlineModel
internal import FaultlineObjects
internal import FoundationEssentials

/// A file of mappings: how objects of a stored schema become those of another, expressed as values.
///
/// `docs/Migrations.md` has the format. Names of entities and mappings, and their combination, are checked with the
/// migration, as for a plan.
package struct MappingFile {
    /// The largest file that is read, in bytes.
    package static let byteCountMax = 16 << 20
    /// The greatest nesting depth of filters.
    private static let filterDepthMax = 64

    let source: Schema
    let target: Schema

    /// Parses the mappings in a text.
    ///
    /// - Parameters:
    ///   - text: JSON.
    ///   - source: The schema of the store.
    ///   - target: The target schema.
    /// - Returns: The mappings in the order of the file.
    /// - Throws: `MappingFileError`, which names the place.
    package static func model(
        _ text: String, from source: Schema, to target: Schema
    ) throws(MappingFileError) -> MappingModel {
        guard text.utf8.count <= byteCountMax else {
            throw MappingFileError(
                code: .tooLarge, path: "", message: "It has more than \(byteCountMax) bytes. Split the migration.")
        }
        let value: MappingNode.Value
        do { value = try JSONDecoder().decode(MappingNode.Value.self, from: Data(text.utf8)) } catch {
            throw MappingFileError(code: .syntax, path: "", message: "It is no JSON. \(Self.reason(error))")
        }
        let top = try MappingNode(value: value, path: "").object(of: ["mappings"])
        guard let list = top["mappings"] else {
            throw MappingFileError(code: .missingKey, path: "", message: "\"mappings\" is missing: a list of mappings.")
        }
        let file = MappingFile(source: source, target: target)
        var mappings: [EntityMapping] = []
        for node in try list.list() { mappings.append(try file.mapping(node)) }
        return MappingModel(entityMappings: mappings)
    }

    /// The decoder's own message, if it has one.
    private static func reason(_ error: any Error) -> String {
        guard case DecodingError.dataCorrupted(let context)? = error as? DecodingError else { return "\(error)" }
        return context.underlyingError.map { "\($0)" } ?? context.debugDescription
    }

    private func mapping(_ node: MappingNode) throws(MappingFileError) -> EntityMapping {
        let keys = try node.object(of: ["name", "from", "to", "attributes", "relationships", "where"])
        let from = try keys["from"]?.text()
        let to = try keys["to"]?.text()
        guard from != nil || to != nil else {
            throw MappingFileError(
                code: .missingKey, path: node.path,
                message: "\"from\" and \"to\" are missing: one of them says which objects it is about.")
        }
        let old = from.flatMap { source.entitiesByName[$0] }
        let new = to.flatMap { target.entitiesByName[$0] }
        return EntityMapping(
            from: from, to: to, name: try keys["name"]?.text(),
            attributes: try properties(keys["attributes"], old, new),
            relationships: try properties(keys["relationships"], old, new),
            where: try keys["where"].map { (node) throws(MappingFileError) in try filter(node, old, depth: 1) })
    }

    private func properties(
        _ node: MappingNode?, _ old: Schema.Entity?, _ new: Schema.Entity?
    ) throws(MappingFileError) -> [PropertyMapping] {
        guard let node else { return [] }
        var mappings: [PropertyMapping] = []
        for (name, node) in try node.object().sorted(by: { $0.key < $1.key }) {
            let attribute = new?.properties.first { $0.name == name } as? Schema.Attribute
            mappings.append(PropertyMapping(name, try expression(node, old, attribute)))
        }
        return mappings
    }

    // MARK: Filters

    private static let comparisons = [
        "equals", "notEquals", "less", "lessOrEqual", "greater", "greaterOrEqual", "isIn", "contains", "beginsWith",
        "endsWith",
    ]

    /// `{"key": "age", "greater": 17}`, `{"all": […]}`, `{"any": […]}`, `{"not": …}`.
    private func filter(
        _ node: MappingNode, _ old: Schema.Entity?, depth: Int
    ) throws(MappingFileError) -> Filter {
        guard depth <= Self.filterDepthMax else {
            throw MappingFileError(
                code: .tooLarge, path: node.path,
                message: "Filters are at most \(Self.filterDepthMax) inside of each other.")
        }
        let keys = try node.object(of: ["key", "all", "any", "not"] + Self.comparisons)
        guard keys.count == (keys["key"] == nil ? 1 : 2) else {
            throw MappingFileError(
                code: .missingKey, path: node.path,
                message: "A filter is \"key\" with one comparison, or one of \"all\", \"any\" and \"not\".")
        }
        if let inner = keys["not"] { return try !filter(inner, old, depth: depth + 1) }
        for (name, join) in [("all", { $0 && $1 }), ("any", { $0 || $1 })] as [(String, (Filter, Filter) -> Filter)] {
            guard let inner = keys[name] else { continue }
            var filters: [Filter] = []
            for node in try inner.list() { filters.append(try filter(node, old, depth: depth + 1)) }
            guard !filters.isEmpty else { throw inner.wrong("a list of at least one filter") }
            return Self.joined(filters[...], join)
        }
        guard let name = keys["key"], let comparison = Self.comparisons.first(where: { keys[$0] != nil }),
            let operand = keys[comparison]
        else {
            throw MappingFileError(
                code: .missingKey, path: node.path, message: "A comparison lacks \"key\", the property it looks at.")
        }
        return try compared(try known(name, in: old), comparison, operand)
    }

    /// Joins the halves, so that the depth is the logarithm of the number of filters.
    private static func joined(_ filters: ArraySlice<Filter>, _ join: (Filter, Filter) -> Filter) -> Filter {
        guard filters.count > 1 else { return filters[filters.startIndex] }
        let middle = filters.startIndex + filters.count / 2
        return join(joined(filters[..<middle], join), joined(filters[middle...], join))
    }

    private func compared(
        _ property: (path: String, attribute: Schema.Attribute?), _ comparison: String, _ operand: MappingNode
    ) throws(MappingFileError) -> Filter {
        let key = Filter.key(property.path)
        switch comparison {
        case "equals": return key == (try operand.value(of: property.attribute))
        case "notEquals": return key != (try operand.value(of: property.attribute))
        case "contains": return key.contains(try operand.text())
        case "beginsWith": return key.beginsWith(try operand.text())
        case "endsWith": return key.endsWith(try operand.text())
        case "isIn":
            var values: [any Sendable] = []
            for node in try operand.list() { values.append(try some(node, property.attribute)) }
            return key.isIn(values)
        case "less": return key < (try some(operand, property.attribute))
        case "lessOrEqual": return key <= (try some(operand, property.attribute))
        case "greater": return key > (try some(operand, property.attribute))
        default: return key >= (try some(operand, property.attribute))
        }
    }

    private func some(_ node: MappingNode, _ attribute: Schema.Attribute?) throws(MappingFileError) -> any Sendable {
        guard let value = try node.value(of: attribute) else { throw node.wrong("a value") }
        return value
    }
}
