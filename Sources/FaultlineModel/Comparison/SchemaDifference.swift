/// The changes between two schemas, and the demand of each change on a migration.
///
/// It depends on the two schemas only. Changes are ordered by entity, then property, as the new schema declares them,
/// and removals come last.
public struct SchemaDifference: Hashable, Sendable, CustomStringConvertible {
    /// The demands of changes, from least to greatest.
    public enum Demand: Int, Comparable, Hashable, Sendable, CustomStringConvertible {
        /// The library can do it automatically.
        case lightweight = 0
        /// The library could do it automatically if the attribute had a default value.
        case needsDefault = 1
        /// Only a stage of a migration plan can do it.
        case needsStage = 2

        /// Orders demands from least to greatest.
        public static func < (left: Demand, right: Demand) -> Bool { left.rawValue < right.rawValue }

        /// The demand in words.
        public var description: String {
            switch self {
            case .lightweight: "lightweight"
            case .needsDefault: "needs a default value"
            case .needsStage: "needs a migration stage"
            }
        }
    }

    /// The kinds of changes.
    public enum Kind: Hashable, Sendable {
        /// The new schema has an entity that the old one lacks.
        case entityAdded
        /// The new schema lacks an entity of the old one: its objects are dropped.
        case entityRemoved
        /// An entity has another name, and names the old one as its original name.
        case entityRenamed(from: String)
        /// An entity inherits from another one than before.
        case superentityChanged(from: String?, to: String?)
        /// Two entities without a common ancestor have one now.
        case entityHierarchiesMerged
        /// An entity has an attribute that it lacked.
        case attributeAdded
        /// An entity lacks an attribute that it had: its values are dropped.
        case attributeRemoved
        /// An attribute has another name, and names the old one as its original name.
        case attributeRenamed(from: String)
        /// The values of an attribute have another stored form.
        case attributeKindChanged(from: AttributeKind, to: AttributeKind)
        /// An attribute became optional or required.
        case attributeOptionalityChanged(isOptional: Bool)
        /// An attribute became ephemeral or stored.
        case attributeTransienceChanged(isTransient: Bool)
        /// An attribute has another default; stored values stay.
        case attributeDefaultChanged
        /// A composite attribute, or a `Codable` type, has other members.
        case attributeMembersChanged
        /// An attribute gained or lost `.externalStorage`.
        case externalStorageChanged(isExternal: Bool)
        /// An entity has a relationship that it lacked.
        case relationshipAdded
        /// An entity lacks a relationship that it had.
        case relationshipRemoved
        /// A relationship has another name, and names the old one as its original name.
        case relationshipRenamed(from: String)
        /// A relationship leads to another entity.
        case relationshipDestinationChanged(from: String, to: String)
        /// A relationship became to-one or to-many.
        case relationshipCardinalityChanged(isToOne: Bool)
        /// A relationship became optional or required.
        case relationshipOptionalityChanged(isOptional: Bool)
        /// A relationship has another minimum or maximum number of members.
        case relationshipCountsChanged
        /// A relationship has another inverse, or none, or one for the first time.
        case relationshipInverseChanged(from: String?, to: String?)
        /// A relationship has another delete rule.
        case deleteRuleChanged(from: Schema.Relationship.DeleteRule, to: Schema.Relationship.DeleteRule)
        /// A relationship has the name of an attribute of the old schema.
        case attributeBecameRelationship
        /// An attribute has the name of a relationship of the old schema.
        case relationshipBecameAttribute
        /// Properties must be unique now; the payload has their names.
        case uniquenessAdded([String])
        /// Properties need no longer be unique; the payload has their names.
        case uniquenessRemoved([String])
        /// Properties have an index now; the payload has their names.
        case indexAdded([String])
        /// Properties have no index any more; the payload has their names.
        case indexRemoved([String])
        /// A hash modifier differs, and with it the fingerprint.
        case hashModifierChanged
    }

    /// One change, with its demand and the reason.
    public struct Change: Hashable, Sendable, CustomStringConvertible {
        /// The kind of the change.
        public let kind: Kind
        /// The entity's name in the new schema, or in the old one if it was removed.
        public let entityName: String
        /// The property's name in the new schema, or in the old one if it was removed; nil for the entity itself.
        public let propertyName: String?
        /// The demand on a migration.
        public let demand: Demand
        /// The effect on stored objects, or the necessary steps.
        public let reason: String
        /// Whether stored objects may violate the change, so that they must be read before it can be accepted.
        public let isCheckedAgainstObjects: Bool

        /// The place, the demand and the reason.
        public var description: String {
            "\(entityName)\(propertyName.map { ".\($0)" } ?? ""): \(demand): \(reason)"
        }
    }

    /// All changes, in the order that the type describes.
    public let changes: [Change]
    /// The old name of each entity of the new schema that the old one has, by its new name.
    public let oldEntityNames: [String: String]
    /// The old name of each property that the old schema has, by the new names of entity and property.
    public let oldPropertyNames: [String: [String: String]]
    /// The changes of tables with several classes, by the new name of the root class.
    package let hierarchyChanges: [String: HierarchyChange]

    /// Compares two schemas.
    ///
    /// Entities and properties are matched by name and by original name. An original name is the name that a property
    /// had when it was first stored, and stays the same through any number of renames: `c` with the original name `a`
    /// matches `a`, and `b` with the original name `a`. It also matches the name of the version just before.
    ///
    /// - Complexity: O(n²) for n names of entities, or of one entity's properties.
    public init(from old: Schema, to new: Schema) {
        var comparison = SchemaComparison(from: old, to: new)
        comparison.run()
        changes = comparison.changes
        oldEntityNames = comparison.oldEntityNames
        oldPropertyNames = comparison.oldPropertyNames
        hierarchyChanges = comparison.hierarchyChanges
    }

    /// The greatest demand of all changes, or `lightweight` if nothing has changed.
    ///
    /// - Complexity: O(n) for n changes.
    public var demand: Demand { changes.map(\.demand).max() ?? .lightweight }

    /// Whether the library can migrate from the old schema to the new one automatically.
    ///
    /// - Complexity: O(n) for n changes.
    public var isLightweight: Bool { demand == .lightweight }

    /// Whether nothing has changed.
    public var isEmpty: Bool { changes.isEmpty }

    /// The changes, each on its own line.
    public var description: String { changes.map(\.description).joined(separator: "\n") }
}

extension Schema {
    /// The changes since an older schema, and the demand of each change on a migration.
    ///
    /// The result depends on the two schemas only. Stored objects are not examined, so a change that they may violate
    /// is marked.
    ///
    /// - Complexity: As `SchemaDifference.init(from:to:)`.
    public func difference(from old: Schema) -> SchemaDifference { SchemaDifference(from: old, to: self) }
}
