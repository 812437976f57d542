internal import FaultlineObjects
internal import Foundation

// What a mapping does, as text: a stage that was stopped goes on by mappings that do the same, and by no others.

extension EntityMapping {
    /// Tells the mapping from others; what code does is not in it, but that there is code.
    var mark: String {
        let policy = entityMigrationPolicy.map { "\($0)" } ?? ""
        let facts = [name, "\(mappingType)", sourceEntityName ?? "", destinationEntityName ?? "", policy]
        let properties = (attributeMappings + relationshipMappings).map {
            "\($0.name.debugDescription) \($0.valueExpression?.mark ?? "default")"
        }
        return (facts.map(\.debugDescription) + properties + [sourceFilter?.mark ?? "all"]).joined(separator: ", ")
    }
}

extension ValueExpression {
    fileprivate var mark: String {
        switch form {
        case .constant(let value as Data): "constant \(value.base64EncodedString())"
        case .constant(let value): "constant \(value.map { String(reflecting: $0) } ?? "nil")"
        case .source(let path): "source \(path.debugDescription)"
        case .destinations(let name, let mapping):
            "destinations \(name.debugDescription) \(mapping.debugDescription)"
        case .counterparts(let mapping): "counterparts \(mapping.debugDescription)"
        case .computed: "code"
        }
    }
}
