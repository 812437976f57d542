internal import FaultlineModel
internal import FaultlineObjects

/// An entity mapping that was checked against the two versions: names are resolved to entities and properties.
struct ResolvedMapping {
    let mapping: EntityMapping
    /// The index among all mappings of the stage.
    let place: Int
    let source: Schema.Entity?
    let destination: Schema.Entity?
    /// Whether the first new object of each old one keeps its identity.
    let keepsIdentity: Bool
    /// Whether each old object becomes exactly the new one of its number: then no pairs are stored.
    let isOneToOne: Bool
    let attributes: [Attribute]
    let relationships: [Relation]

    /// How an attribute gets its value.
    struct Attribute {
        let name: String
        let value: Value

        enum Value {
            /// An attribute of the old object; whether nil leaves the new object with its default; and whether both are
            /// stored, with values of one kind.
            case copied(String, keepsDefault: Bool, isSameKind: Bool)
            /// The value at the end of a path.
            case path(String)
            case constant((any Sendable)?)
            case computed(@Sendable (ManagedObject, MigrationManager) throws -> Any?)
        }
    }

    /// How a relationship gets its members.
    struct Relation {
        let name: String
        let isToOne: Bool
        let value: Value

        enum Value {
            /// The new objects, by some mappings, of the objects in a relationship of the old object.
            case destinations(of: String, by: [Int])
            /// The new objects of the old object itself, by another mapping.
            case counterparts(by: Int)
            /// The objects themselves: their entity, with this name in the new version, is carried over.
            case kept(of: String, in: String)
            case computed(@Sendable (ManagedObject, MigrationManager) throws -> Any?)
        }
    }
}

extension ResolvedMapping.Relation.Value {
    /// The relationship of the old object that has the members; nil if they come from elsewhere.
    var oldName: String? {
        switch self {
        case .destinations(let name, _), .kept(let name, _): name
        case .counterparts, .computed: nil
        }
    }
}
