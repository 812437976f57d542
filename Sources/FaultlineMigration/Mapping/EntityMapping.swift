public import FaultlineObjects

/// Describes how objects of one entity of the old version become objects of one entity of the new version.
public struct EntityMapping: Sendable {
    /// The kind of a mapping.
    public enum MappingType: Sendable, Equatable {
        /// The policy makes the new objects; its `super` calls apply the mapping's own properties.
        case custom
        /// The new entity has no old one: only the policy's calls before and after the passes are made.
        case add
        /// The old entity has no new one: its objects are counted and left behind.
        case remove
        /// Each object becomes one with the properties of the old one.
        case copy
        /// Each object becomes one whose properties are computed.
        case transform
    }

    /// The mapping's name in its model: `SOURCE->DESTINATION` by default.
    public var name: String
    /// The kind of the mapping.
    public var mappingType: MappingType
    /// The entity of the old version; nil for `add`.
    public var sourceEntityName: String?
    /// The entity of the new version; nil for `remove`.
    public var destinationEntityName: String?
    /// The attributes of a new object, in the order in which they are set.
    ///
    /// An attribute without a mapping takes the value of the old attribute of its `originalName`, also if that was
    /// renamed in several versions, else of its name; if that has values of another kind, its default. From another
    /// entity than the one that the new entity continues, its name comes before its `originalName`.
    public var attributeMappings: [PropertyMapping]
    /// The relationships of a new object.
    ///
    /// A relationship without a mapping leads to the new objects of the objects in the old relationship, which is found
    /// as for an attribute.
    public var relationshipMappings: [PropertyMapping]
    /// Selects objects of the old entity; nil for all.
    public var sourceFilter: Filter?
    /// The class that makes and relates the new objects; nil if the mapping alone does.
    public var entityMigrationPolicy: EntityMigrationPolicy.Type?
    /// Values for the policy.
    public var userInfo: [String: any Sendable]
    /// Whether `MappingModel.inferred(from:to:)` made the mapping: then it drops no data in the user's name.
    var isInferred = false

    /// Describes a mapping; its kind follows from the arguments: with a policy it is `custom`, else nil entity names
    /// decide.
    public init(
        from sourceEntityName: String?, to destinationEntityName: String?, name: String? = nil,
        attributes: [PropertyMapping] = [], relationships: [PropertyMapping] = [], where sourceFilter: Filter? = nil,
        policy: EntityMigrationPolicy.Type? = nil, userInfo: [String: any Sendable] = [:]
    ) {
        self.name = name ?? "\(sourceEntityName ?? "")->\(destinationEntityName ?? "")"
        mappingType =
            if policy != nil { .custom } else if sourceEntityName == nil { .add } else if destinationEntityName == nil {
                .remove
            } else if attributes.isEmpty, relationships.isEmpty { .copy } else { .transform }
        self.sourceEntityName = sourceEntityName
        self.destinationEntityName = destinationEntityName
        attributeMappings = attributes
        relationshipMappings = relationships
        self.sourceFilter = sourceFilter
        entityMigrationPolicy = policy
        self.userInfo = userInfo
    }

    /// Whether the mapping runs code, which may read any attribute, make objects of any entity, and associate them.
    var runsCode: Bool {
        entityMigrationPolicy != nil || hasCodeInExpressions
    }

    /// The class of the policy, unless it is the one that overrides nothing.
    var ownPolicy: EntityMigrationPolicy.Type? {
        entityMigrationPolicy == EntityMigrationPolicy.self ? nil : entityMigrationPolicy
    }

    /// Whether code sees the objects: that of the policy, or of expressions.
    var showsObjects: Bool { ownPolicy != nil || hasCodeInExpressions }

    private var hasCodeInExpressions: Bool {
        (attributeMappings + relationshipMappings).contains {
            if case .computed? = $0.valueExpression?.form { true } else { false }
        }
    }
}
