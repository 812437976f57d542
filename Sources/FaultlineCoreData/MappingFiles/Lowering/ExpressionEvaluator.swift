internal import FaultlineMigration
internal import FaultlineModel
internal import FaultlineObjects
internal import Foundation

/// Computes an expression for one old object.
///
/// `ExpressionCheck` has accepted it.
struct ExpressionEvaluator {
    let mapping: MappingModelFile.Mapping
    /// The functions of `$entityPolicy` by their names in expressions.
    let functions: [String: MappingModelFile.Function]
    /// The entities whose objects the relationship takes; none for an attribute.
    let entities: Set<String>
    /// The model of the old objects.
    let schema: Schema

    /// The value; nil if a part has none.
    func value(_ expression: MappingExpression, _ source: ManagedObject, _ manager: MigrationManager) throws -> Any? {
        func part(_ expression: MappingExpression) throws -> Any? { try value(expression, source, manager) }
        switch expression {
        case .constant(let value): return value?.plain
        case .variable("source"), .object: return source
        case .variable("manager"): return manager
        case .keyPath(.variable("entityMapping"), let path): return mapping.fact(path)
        case .keyPath(let operand, let path):
            guard let start = try operand.map(part) ?? source as Any? else { return nil }
            return try value(of: start, at: path)
        case .list(let members): return try members.compactMap(part)
        case .call(let name, let arguments): return try ExpressionCalls.call(name, arguments.map(part))
        case .function(.variable("entityPolicy"), let name, let arguments):
            guard let function = functions[name] else { throw ExpressionFailure(text: "There is no function \(name).") }
            let result = try function(arguments.map(part), manager)
            return result is NSNull ? nil : result
        case .function(.variable("manager"), let name, let arguments):
            let objects = try Self.objects(try part(arguments[1]))
            return try CounterpartCall.objects(name, arguments[0].constantText ?? "", objects, entities, manager)
        case .function(let operand, let name, let arguments):
            return try ExpressionCalls.method(name, of: part(operand), arguments.map(part))
        case .variable, .fetch, .subquery, .conditional, .unreadable:
            throw ExpressionFailure(text: "\(expression) has no value.")
        }
    }

    /// The objects that a value is or has; none for no value.
    ///
    /// - Throws: `ExpressionFailure` for another value, and for a collection with another member.
    static func objects(_ value: Any?) throws -> [ManagedObject] {
        guard let value, !(value is NSNull) else { return [] }
        if let object = value as? ManagedObject { return [object] }
        guard let members = members(of: value) else {
            throw ExpressionFailure(text: "A value of the type \(type(of: value)) is no object, and no collection.")
        }
        return try members.map { member in
            guard let object = member as? ManagedObject else {
                throw ExpressionFailure(text: "A member of the type \(type(of: member)) is no object.")
            }
            return object
        }
    }

    /// The members of a list or a set, those of a set of objects in the order of their identifiers; nil for all other
    /// values.
    static func members(of value: Any) -> [Any]? {
        switch value {
        case let values as [Any]: return values
        case let objects as Set<ManagedObject>: return objects.sorted { $0.objectID < $1.objectID }
        case let values as NSOrderedSet: return values.array
        case let values as NSArray: return values.map { $0 }
        case let values as NSSet:
            let members = values.allObjects
            let objects = members.compactMap { $0 as? ManagedObject }
            return objects.count == members.count ? objects.sorted { $0.objectID < $1.objectID } : members
        default: return nil
        }
    }

    /// The value at the end of a path in an object, or the values in several objects.
    private func value(of operand: Any, at path: String) throws -> Any? {
        if let object = operand as? ManagedObject {
            let joined = JoinedPath(path)
            let parts = AttributePath(joined.names, of: object.entity, in: schema)
            var value = object.FaultlineObjects::value(forKeyPath: parts.names)
            if joined.isDistinct { value = Self.distinct(value) }
            return try Self.applied(parts.methods[...], to: value)
        }
        guard let members = Self.members(of: operand) else {
            return try Self.applied(path.split(separator: ".").map(String.init)[...], to: operand)
        }
        return try members.flatMap { member -> [Any] in
            guard let value = try value(of: member, at: path) else { return [] }
            return Self.members(of: value) ?? [value]
        }
    }

    /// The value after calls of methods without arguments, those of a list on each member.
    private static func applied(_ methods: ArraySlice<String>, to value: Any?) throws -> Any? {
        guard let name = methods.first, let value else { return value }
        if let members = members(of: value) {
            return try members.compactMap { try applied(methods, to: $0) }
        }
        return try applied(methods.dropFirst(), to: ExpressionCalls.method(name, of: value, []))
    }

    /// The values of a list, each once.
    private static func distinct(_ value: Any?) -> Any? {
        guard let values = value as? [Any] else { return value }
        if let objects = values as? [ManagedObject] {
            var seen: Set<ObjectIdentifier> = []
            return objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
        }
        var seen: Set<AnyHashable> = []
        return values.filter { value in (value as? AnyHashable).map { seen.insert($0).inserted } ?? true }
    }
}

/// A path of names whose operators join collections: `countries.@distinctUnionOfSets.moods`.
///
/// The path without them leads to the same values, of which the distinct operators keep each once.
struct JoinedPath {
    let names: String
    let isDistinct: Bool
    let isJoined: Bool

    private static let operators = ["@unionOfObjects", "@unionOfArrays", "@unionOfSets"]
    private static let distinctOperators = [
        "@distinctUnionOfObjects", "@distinctUnionOfArrays", "@distinctUnionOfSets",
    ]

    init(_ path: String) {
        let all = path.split(separator: ".").map(String.init)
        let rest = all.filter { !Self.operators.contains($0) && !Self.distinctOperators.contains($0) }
        names = rest.joined(separator: ".")
        isJoined = rest.count < all.count
        isDistinct = all.contains { Self.distinctOperators.contains($0) }
    }
}

/// A path of names that ends in an attribute, and the calls on its value: `content.length`.
struct AttributePath {
    let names: String
    let methods: [String]

    init(_ path: String, of entity: Schema.Entity, in schema: Schema) {
        let all = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        var entity: Schema.Entity? = entity
        for (index, name) in all.enumerated() {
            let property = entity?.properties.first { $0.name == name }
            if let attribute = property?.asAttribute, !(attribute is Schema.CompositeAttribute) {
                names = all[...index].joined(separator: ".")
                methods = Array(all[(index + 1)...])
                return
            }
            entity = property?.asRelationship.flatMap { schema.entitiesByName[$0.destination] }
        }
        names = path
        methods = []
    }
}

extension MappingModelFile.Mapping {
    /// A value of the mapping itself: `$entityMapping.name`, `$entityMapping.userInfo.key`.
    func fact(_ path: String) -> String? {
        switch path {
        case "name": name
        case "sourceEntityName": sourceEntityName
        case "destinationEntityName": destinationEntityName
        case "entityMigrationPolicyClassName": policyName
        default: path.hasPrefix("userInfo.") ? userInfo[String(path.dropFirst("userInfo.".count))] : nil
        }
    }
}

extension MappingExpression {
    /// The text of a constant; nil for everything else.
    var constantText: String? { if case .constant(.text(let text)) = self { text } else { nil } }
}

extension ModelVersion.Value {
    /// The value itself.
    var plain: any Sendable {
        switch self {
        case .flag(let value): value
        case .integer(let value): Int(value)
        case .number(let value): value
        case .decimal(let value): value
        case .text(let value): value
        case .date(let value): value
        case .data(let value): value
        case .uuid(let value): value
        case .url(let value): value
        }
    }
}

/// The reason why an expression has no value for an object.
struct ExpressionFailure: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
}
