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
        case entityAdded
        case entityRemoved
        case entityRenamed(from: String)
        case superentityChanged(from: String?, to: String?)
        case entityHierarchiesMerged
        case attributeAdded
        case attributeRemoved
        case attributeRenamed(from: String)
        case attributeKindChanged(from: AttributeKind, to: AttributeKind)
        case attributeOptionalityChanged(isOptional: Bool)
        case attributeTransienceChanged(isTransient: Bool)
        case attributeDefaultChanged
        case attributeMembersChanged
        case externalStorageChanged(isExternal: Bool)
        case relationshipAdded
        case relationshipRemoved
        case relationshipRenamed(from: String)
        case relationshipDestinationChanged(from: String, to: String)
        case relationshipCardinalityChanged(isToOne: Bool)
        case relationshipOptionalityChanged(isOptional: Bool)
        case relationshipCountsChanged
        case relationshipInverseChanged(from: String?, to: String?)
        case deleteRuleChanged(from: Schema.Relationship.DeleteRule, to: Schema.Relationship.DeleteRule)
        case attributeBecameRelationship
        case relationshipBecameAttribute
        case uniquenessAdded([String])
        case uniquenessRemoved([String])
        case indexAdded([String])
        case indexRemoved([String])
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
    }

    /// The greatest demand of all changes, or `lightweight` if nothing has changed.
    public var demand: Demand { changes.map(\.demand).max() ?? .lightweight }

    /// Whether the library can migrate from the old schema to the new one automatically.
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
