public import FaultlineMigration

extension EntityMapping {
    /// The mappings of attributes that were given, never nil; other attributes are copied by name.
    public var attributeMappings: [PropertyMapping]? {
        get { self.FaultlineMigration::attributeMappings }
        set { self.FaultlineMigration::attributeMappings = newValue ?? [] }
    }

    /// The mappings of relationships that were given, never nil; others lead to the new objects of the old ones.
    public var relationshipMappings: [PropertyMapping]? {
        get { self.FaultlineMigration::relationshipMappings }
        set { self.FaultlineMigration::relationshipMappings = newValue ?? [] }
    }

    /// Values for the policy, never nil.
    public var userInfo: [String: any Sendable]? {
        get { self.FaultlineMigration::userInfo }
        set { self.FaultlineMigration::userInfo = newValue ?? [:] }
    }
}

extension EntityMapping.MappingType {
    /// The policy makes the new objects.
    public static var customEntityMappingType: Self { .custom }
    /// The new entity has no old one.
    public static var addEntityMappingType: Self { .add }
    /// The old entity has no new one.
    public static var removeEntityMappingType: Self { .remove }
    /// Each object becomes one with the properties of the old one.
    public static var copyEntityMappingType: Self { .copy }
    /// Each object becomes one whose properties are computed.
    public static var transformEntityMappingType: Self { .transform }
}
