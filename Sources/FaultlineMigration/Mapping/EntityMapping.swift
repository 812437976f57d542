public import FaultlineObjects

/// How objects of one entity of the old version become objects of one entity of the new version.
public struct EntityMapping: Sendable {
    /// What kind of change a mapping is.
    public enum MappingType: Sendable, Equatable {
        /// The policy makes the new objects; the mapping's own properties are what its `super` calls take over.
        case custom
        /// The new entity has no forerunner: only the policy's calls before and after the passes are made.
        case add
        /// The old entity has no successor: its objects are counted and left behind.
        case remove
        /// Each object becomes one whose properties are those of the old one.
        case copy
        /// Each object becomes one whose properties are computed.
        case transform
    }

    /// Names the mapping among those of its model: `SOURCE->DESTINATION` unless another name was given.
    public var name: String
    /// What kind of change it is.
    public var mappingType: MappingType
    /// The entity of the old version; nil for `add`.
    public var sourceEntityName: String?
    /// The entity of the new version; nil for `remove`.
    public var destinationEntityName: String?
    /// How attributes of a new object get their values, in the order in which they get them.
    ///
    /// An attribute without a mapping takes the value of the old attribute of its name, or of its `originalName`, if
    /// that has values of its kind; else its default.
    public var attributeMappings: [PropertyMapping]
    /// How relationships of a new object get their values.
    ///
    /// A relationship without a mapping leads to what the objects became that the old relationship of its name, or of
    /// its `originalName`, leads to.
    public var relationshipMappings: [PropertyMapping]
    /// Which objects of the old entity take part; nil for all.
    public var sourceFilter: Filter?
    /// The class whose instance makes and relates the new objects; nil for what the mapping says by itself.
    public var entityMigrationPolicy: EntityMigrationPolicy.Type?
    /// Whatever a policy wants to know.
    public var userInfo: [String: any Sendable]

    /// Describes a mapping; its kind follows from what is given: a policy makes it `custom`, else what is nil tells.
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

    /// Whether code is run: it may read any attribute, make objects of any entity, and associate them.
    var runsCode: Bool {
        entityMigrationPolicy != nil
            || (attributeMappings + relationshipMappings).contains {
                if case .computed? = $0.valueExpression?.form { true } else { false }
            }
    }
}
