#if Import
internal import FaultlineModel
internal import FaultlineStore

/// Where the objects and relationships of a model lie in a store's tables.
struct StoreMapping {
    /// An attribute in the columns of a table, which the table's query returns.
    struct Attribute {
        let slot: Int
        let name: String
        let kind: AttributeKind
        let isOptional: Bool
        /// Whether values begin with a byte that says where the bytes are.
        let isExternal: Bool
        let source: Source

        enum Source {
            case column(Value)
            /// A structure, by the attributes inside.
            case composite([Part])
        }
    }

    /// A value in the result of a table's query.
    struct Value {
        /// The name of the table's column.
        let column: String
        /// Its index in the result.
        let index: Int
        /// The index of the size of a blob, −1 for another value; nil if values are never large.
        let sizeIndex: Int?
    }

    /// An attribute inside a composite one.
    struct Part {
        let name: String
        let kind: AttributeKind
        let isOptional: Bool
        /// The value that a required attribute has instead of a missing one.
        let substitute: CompositeValue?
        let source: Attribute.Source
    }

    /// A reference to one object.
    struct ToOne {
        let slot: Int
        let name: String
        let isOptional: Bool
        let value: Value
        /// The index of the entity number of the object referred to.
        let targetIndex: Int
        /// Numbers of the entities that the object may have: the destination, and those that inherit from it.
        let destinations: Set<Int64>
        /// The index of the reference back; nil if the inverse is no to-one relationship.
        let inverseIndex: Int?
        /// The position in the inverse collection; nil if it has no order.
        let order: Order?
    }

    /// The positions of members in ordered collections.
    struct Order {
        let column: String
        let index: Int
        let scale: OrderScale
    }

    /// An entity with its columns; an object, because each row refers to one.
    final class Entity {
        let name: String
        let number: Int64
        /// The position in the model.
        let ordinal: Int
        /// The table of the new store, which a root entity shares with its subentities.
        let storage: EntityStorage
        /// The position among the classes of the table; 0 for a root entity.
        let place: Int
        /// All properties, as the entity declares or inherits them.
        let properties: [any SchemaProperty]
        /// The slots of the properties, in the same order.
        let slots: [Int]
        let attributes: [Attribute]
        let toOnes: [ToOne]

        init(
            _ model: Schema.Entity, number: Int64, ordinal: Int, storage: EntityStorage, slots: [Int],
            attributes: [Attribute], toOnes: [ToOne]
        ) {
            name = model.name
            self.number = number
            self.ordinal = ordinal
            self.storage = storage
            place = storage.hierarchy?.place(of: model.name) ?? 0
            properties = model.properties
            self.slots = slots
            self.attributes = attributes
            self.toOnes = toOnes
        }
    }

    /// A table with the objects of an entity and its subentities.
    struct Table {
        let name: String
        let columns: [String]
        /// By entity number.
        let entities: [Int64: Entity]
        /// Returns Z_PK, Z_ENT and the values, by rising Z_PK from behind the parameter.
        let sql: String
    }

    /// A relationship that both sides have as a collection, or that has no inverse.
    struct Links {
        /// The position among the links of the mapping.
        let position: Int
        let entity: String
        let name: String
        let table: String
        /// The column with the numbers of links.
        let number: String
        let columns: (owner: String, member: String)
        let side: LinkSide
        /// Returns the link's number, owner and member, their entity numbers, and the positions of both if there are any.
        let sql: String
        /// Numbers of the entities that owners may have: the declaring one, and those that inherit from it.
        let owners: Set<Int64>
        /// The same of members.
        let members: Set<Int64>
        /// The member's position in the owner's collection.
        let memberOrder: Order?
        /// The owner's position in the member's collection.
        let ownerOrder: Order?
        /// Added to the numbers of links, because links of another relationship come before in the same table.
        let offset: Int64
    }

    let tables: [Table]
    let links: [Links]
    /// Notes on columns whose names leave a choice.
    let notes: [String]
    /// Relationships that the store does not have in a known form.
    let missing: [(entity: String, property: String, reason: String)]

    /// The entities of all tables.
    var entities: [Entity] { tables.flatMap(\.entities.values) }
}

/// Translates positions of ordered collections, which are spaced integers, into order keys.
///
/// The keys rise as the positions do. They stay below the keys of members that are added later, as long as there is
/// room: a later member's key is its number × 2^16.
struct OrderScale {
    private let least: Int64
    private let factor: UInt64

    /// Makes the scale of a column.
    ///
    /// - Parameters:
    ///   - least: The least position; nil if there are none.
    ///   - greatest: The greatest position.
    ///   - last: The greatest number of a member.
    init(least: Int64?, greatest: Int64?, last: Int64) {
        let least = least ?? 0
        self.least = least
        let span = UInt64(bitPattern: (greatest ?? 0) &- least)
        let room = MemberKey.defaultOrder(of: UInt64(max(last, 1)))
        factor = span < UInt64.max ? max(room / (span + 1), 1) : 1
    }

    /// The key of a position; at least 1.
    @inline(__always)
    func key(_ position: Int64) -> UInt64 {
        let (key, isTooLarge) = UInt64(bitPattern: position &- least).multipliedReportingOverflow(by: factor)
        return isTooLarge || key == .max ? .max : key + 1
    }
}
#endif
