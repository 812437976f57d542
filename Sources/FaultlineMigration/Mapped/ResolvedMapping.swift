internal import FaultlineModel
internal import FaultlineObjects

/// An entity mapping checked against the two versions: names are entities and properties.
struct ResolvedMapping {
    let mapping: EntityMapping
    /// Position among all mappings of the stage.
    let place: Int
    let source: Schema.Entity?
    let destination: Schema.Entity?
    /// Whether new objects keep the identity of the old ones, the first one of each.
    let keepsIdentity: Bool
    /// Whether each old object of it has become the new one of its number, and none else: nothing need be written down
    /// of who became whom.
    let isOneToOne: Bool
    let attributes: [Attribute]
    let relationships: [Relation]

    /// How an attribute gets its value.
    struct Attribute {
        let name: String
        let value: Value

        enum Value {
            /// An attribute of the old object, whose values are of the same kind; whether nil leaves the new object with
            /// its default.
            case copied(String, keepsDefault: Bool)
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
            /// What the objects became that a relationship of the old object leads to, by one of some mappings.
            case destinations(of: String, by: [Int])
            /// What the old object itself became by another mapping.
            case counterparts(by: Int)
            /// The objects themselves: their entity, called this in the new version, goes over as it is.
            case kept(of: String, in: String)
            case computed(@Sendable (ManagedObject, MigrationManager) throws -> Any?)
        }
    }
}
