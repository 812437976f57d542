internal import FaultlineObjects
internal import Foundation

// Mappings as text: a stopped stage is only resumed by mappings that do the same.

extension EntityMapping {
    /// Distinguishes the mapping from others; code counts only by its presence, except that of a file's expressions.
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
        case .computed: text.map { "code \($0.debugDescription)" } ?? "code"
        }
    }
}
