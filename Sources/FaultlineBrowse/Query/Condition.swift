import FaultlineModel
import FaultlineObjects
import Foundation

/// A condition of the filter form: a path of property names, an operator, and a value as text.
struct Condition: Equatable {
    let path: String
    let comparison: Comparison
    let text: String

    /// An operator of the form.
    enum Comparison: String, CaseIterable {
        case equal = "eq"
        case notEqual = "ne"
        case less = "lt"
        case lessOrEqual = "le"
        case greater = "gt"
        case greaterOrEqual = "ge"
        case contains = "has"
        case beginsWith = "begins"
        case isNil = "nil"
        case isSet = "set"

        /// The operator as people read it.
        var sign: String {
            switch self {
            case .equal: "="
            case .notEqual: "≠"
            case .less: "<"
            case .lessOrEqual: "≤"
            case .greater: ">"
            case .greaterOrEqual: "≥"
            case .contains: "contains"
            case .beginsWith: "begins with"
            case .isNil: "is nil"
            case .isSet: "is not nil"
            }
        }
    }

    /// The filter of the condition for objects of an entity.
    ///
    /// - Throws: A failure of status 400 that names the property and the remedy.
    func filter(of entity: Schema.Entity, in schema: Schema) throws(PageFailure) -> Filter {
        let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard names.count <= 2, let first = property(names[0], of: entity) else { throw unknown(path, entity) }
        guard let relationship = first.asRelationship else {
            guard names.count == 1, let attribute = first.asAttribute else { throw unknown(path, entity) }
            return try filter(path, attribute)
        }
        guard let destination = schema.entitiesByName[relationship.destination] else { throw unknown(path, entity) }
        guard names.count == 2 else { return try filter(relationship) }
        guard let attribute = property(names[1], of: destination)?.asAttribute else {
            throw unknown(names[1], destination)
        }
        return relationship.isToOneRelationship
            ? try filter(path, attribute) : .any(names[0], where: try filter(names[1], attribute))
    }

    private func property(_ name: String, of entity: Schema.Entity) -> (any SchemaProperty)? {
        entity.properties.first { $0.name == name }
    }

    private func unknown(_ path: String, _ entity: Schema.Entity) -> PageFailure {
        PageFailure(400, "\(entity.name) has no property \(path). Choose one of the list.")
    }

    /// A condition on a to-one relationship: only whether there is an object.
    private func filter(_ relationship: Schema.Relationship) throws(PageFailure) -> Filter {
        guard relationship.isToOneRelationship else {
            throw PageFailure(
                400, "\(relationship.name) is to many. Compare a property of its members: \(relationship.name).name.")
        }
        switch comparison {
        case .isNil: return Filter.key(relationship.name) == nil
        case .isSet: return Filter.key(relationship.name) != nil
        default:
            throw PageFailure(
                400,
                "\(relationship.name) is another object. Compare one of its properties, or ask whether it is nil.")
        }
    }

    private func filter(_ path: String, _ attribute: Schema.Attribute) throws(PageFailure) -> Filter {
        let key = Filter.key(path)
        switch comparison {
        case .isNil: return key == nil
        case .isSet: return key != nil
        case .contains, .beginsWith:
            guard attribute.kind == .string || attribute.kind == .url else {
                throw PageFailure(400, "\(path) has no text, so it is not searched. Compare it by =, < or >.")
            }
            return comparison == .contains ? key.contains(text) : key.beginsWith(text)
        case .equal: return key == (try value(path, attribute.kind))
        case .notEqual: return key != (try value(path, attribute.kind))
        case .less: return key < (try value(path, attribute.kind))
        case .lessOrEqual: return key <= (try value(path, attribute.kind))
        case .greater: return key > (try value(path, attribute.kind))
        case .greaterOrEqual: return key >= (try value(path, attribute.kind))
        }
    }

    /// The text as a value of a kind.
    private func value(_ path: String, _ kind: AttributeKind) throws(PageFailure) -> any Sendable {
        let value: (any Sendable)? =
            switch kind {
            case .bool:
                ["true": true, "false": false, "yes": true, "no": false, "1": true, "0": false][text.lowercased()]
            case .int8, .int16, .int32, .int64: Int64(text)
            case .uint8, .uint16, .uint32, .uint64: UInt64(text)
            case .float: Float(text)
            case .double: Double(text)
            case .decimal: Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
            case .uuid: UUID(uuidString: text)
            case .date: Self.date(text)
            case .string: text
            case .url: URL(string: text)
            case .data, .codable: nil
            }
        guard let value else {
            throw PageFailure(400, "\(path) is compared with \(Self.expected(kind)), and “\(text)” is none.")
        }
        return value
    }

    private static func date(_ text: String) -> Date? {
        if let seconds = Double(text) { return Date(timeIntervalSince1970: seconds) }
        let whole = text.count == 10 ? text + "T00:00:00Z" : text.hasSuffix("Z") ? text : text + "Z"
        return (try? Date(whole, strategy: .iso8601))
            ?? (try? Date(whole, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }

    private static func expected(_ kind: AttributeKind) -> String {
        switch kind {
        case .bool: "true or false"
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: "a whole number"
        case .float, .double, .decimal: "a number"
        case .uuid: "a UUID"
        case .date: "a date in UTC, such as 2026-03-31 or 2026-03-31T12:00:00Z"
        case .string: "text"
        case .url: "an address"
        case .data, .codable: "no value"
        }
    }
}
