import Faultline
import Testing

/// A row of the table of changes: two schemas, the changes reported between them, and the objects after the migration.
///
/// Every entity has an attribute `n`, which identifies its objects.
struct SchemaChange: Sendable, CustomTestStringConvertible {
    let name: String
    let old: Schema
    let new: Schema
    /// Place and requirement of each change.
    let verdict: [String]
    let objects: [Sample]
    /// Every object after the migration, by entity in the order of the new schema; nil if the library refuses to
    /// migrate.
    let outcome: [String]?

    var testDescription: String { name }

    /// An object under the old schema.
    struct Sample: Sendable {
        let n: String
        let entity: String
        let values: [String: any Sendable]
        /// Names of the objects that this one refers to, by relationship.
        let references: [String: [String]]

        init(
            _ entity: String, _ n: String, _ values: [String: any Sendable] = [:],
            to references: [String: [String]] = [:]
        ) {
            self.n = n
            self.entity = entity
            self.values = values
            self.references = references
        }
    }

    /// A change that the library makes without code.
    init(
        _ name: String, _ old: [Schema.Entity], _ new: [Schema.Entity], _ verdict: [String], _ objects: [Sample],
        gives outcome: [String]
    ) {
        self.name = name
        self.old = Schema(entities: old)
        self.new = Schema(entities: new, version: Schema.Version(2, 0, 0))
        self.verdict = verdict
        self.objects = objects
        self.outcome = outcome
    }

    /// A change that the library refuses to make without code.
    init(
        refusing name: String, _ old: [Schema.Entity], _ new: [Schema.Entity], _ verdict: [String],
        _ objects: [Sample] = []
    ) {
        self.name = name
        self.old = Schema(entities: old)
        self.new = Schema(entities: new, version: Schema.Version(2, 0, 0))
        self.verdict = verdict
        self.objects = objects
        outcome = nil
    }

    // MARK: Shorthands for schemas

    static func entity(
        _ name: String, _ properties: any SchemaProperty..., was: String? = nil, unique: [[String]] = [],
        indices: [[String]] = [], subentities: [Schema.Entity] = [], isRoot: Bool = true
    ) -> Schema.Entity {
        let label = isRoot ? [Schema.Attribute(name: "n", valueType: String.self)] : []
        let entity = Schema.Entity(
            name, subentities: subentities, properties: label + properties, uniquenessConstraints: unique,
            indices: indices)
        entity.originalName = was ?? ""
        return entity
    }

    static func value<T: Sendable>(
        _ name: String, _ type: T.Type, _ options: Schema.Attribute.Option..., default value: T? = nil,
        was: String? = nil, modifier: String? = nil
    ) -> Schema.Attribute {
        Schema.Attribute(
            name: name, originalName: was, options: options, valueType: type, defaultValue: value,
            hashModifier: modifier)
    }

    static func one(
        _ name: String, _ destination: String, inverse: String? = nil, isOptional: Bool = true, was: String? = nil,
        rule: Schema.Relationship.DeleteRule = .nullify
    ) -> Schema.Relationship {
        Schema.Relationship(
            name: name, originalName: was, destination: destination, isToOne: true, isOptional: isOptional,
            deleteRule: rule, inverseName: inverse)
    }

    static func many(
        _ name: String, _ destination: String, inverse: String? = nil, was: String? = nil,
        rule: Schema.Relationship.DeleteRule = .nullify, least: Int = 0, most: Int = 0
    ) -> Schema.Relationship {
        Schema.Relationship(
            name: name, originalName: was, destination: destination, isToOne: false, deleteRule: rule,
            minimumModelCount: least, maximumModelCount: most, inverseName: inverse)
    }
}
