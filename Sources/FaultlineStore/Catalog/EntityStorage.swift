package import FaultlineLog
package import FaultlineModel

/// The storage of one entity's objects in the log, resolved for one schema: the data that every read and write of rows
/// needs.
package final class EntityStorage: Sendable {
    package let name: String
    /// Position among the entities of the schema.
    package let ordinal: Int
    package let table: TableID
    /// The layout that rows are written in.
    ///
    /// Column `k` is slot `k`.
    package let layout: RowLayout
    /// By slot.
    package let slots: [SlotStorage]
    package let uniqueIndexes: [UniqueIndex]
    package let secondaryIndexes: [SecondaryIndex]
    package let textIndexes: [TextIndex]
    /// Whether a save that does not change an indexed value may move it out of the row, so that the row has no key: a
    /// value that was unique stays in the row until then, even if it is larger than values may otherwise be.
    package let mayMoveKeys: Bool
    /// Slots of uniqueness constraints.
    ///
    /// Their values never leave the row: keys are derived from rows alone, also by replay.
    package let uniqueSlots: Set<Int>
    /// Whether a to-one relationship is part of a uniqueness constraint.
    package let uniqueKeysNameObjects: Bool
    /// To-one slots whose inverse is to many, with the index of their members.
    package let memberIndexes: [MemberIndex]
    /// Bit k: a change of slot k concerns an index; bit 63 stands for all slots from 63 on.
    package let indexedSlots: UInt64
    /// Slots whose value may lie outside of the row.
    package var variableSlots: [Int] { layout.variableSlots }
    package let variableMask: UInt64
    package let toOneSlots: [Int]
    /// By slot: the ordinal of a to-one relationship's destination; −1 for other slots.
    package let toOneDestinations: [Int]
    /// To-one slots that must not be nil.
    package let requiredSlots: [Int]
    /// Slots of attributes whose values the history keeps when their object is deleted.
    package let preservedSlots: [Int]
    /// Slots of attributes that are never written: they are blank in every row.
    package let ephemeralSlots: [Int]
    /// To-many slots with a least or greatest number of members.
    package let boundedSlots: [Int]
    /// The classes whose objects are in the table; nil if there is only one.
    package let hierarchy: EntityHierarchy?

    init(
        _ entity: Schema.Entity, ordinal: Int, table: TableID, layout: RowLayout, slots: [SlotStorage],
        indexes: EntityIndexes, hierarchy: EntityHierarchy?
    ) {
        name = entity.name
        let attributes = entity.properties.map(\.asAttribute)
        self.hierarchy = hierarchy
        self.ordinal = ordinal
        self.table = table
        self.layout = layout
        self.slots = slots
        uniqueIndexes = indexes.unique
        secondaryIndexes = indexes.secondary
        textIndexes = indexes.texts
        memberIndexes = indexes.members
        let uniqueSlots = Set(uniqueIndexes.flatMap(\.slots))
        self.uniqueSlots = uniqueSlots
        mayMoveKeys = (secondaryIndexes.flatMap(\.slots) + textIndexes.flatMap(\.slots)).contains { slot in
            let column = layout.columns[slot]
            return column.isVariable && column.externalThreshold < Column.defaultExternalThreshold
                && !uniqueSlots.contains(slot)
        }
        uniqueKeysNameObjects = uniqueIndexes.contains { index in
            index.slots.contains { if case .toOne = slots[$0] { true } else { false } }
        }
        preservedSlots = attributes.indices.filter {
            attributes[$0]?.options.contains(.preserveValueOnDeletion) == true && attributes[$0]?.isTransient == false
        }
        ephemeralSlots = attributes.indices.filter { attributes[$0]?.isTransient == true }
        var mask: UInt64 = 0
        for index in uniqueIndexes {
            for slot in index.slots { mask |= SlotMask.bit(slot) }
        }
        for index in secondaryIndexes { mask |= index.mask }
        for index in textIndexes { mask |= index.mask }
        for index in memberIndexes { mask |= SlotMask.bit(index.slot) }
        indexedSlots = mask
        variableMask = layout.variableSlots.reduce(0) { $0 | SlotMask.bit($1) }
        toOneSlots = slots.indices.filter { if case .toOne = slots[$0] { true } else { false } }
        toOneDestinations = slots.map { if case .toOne(let relationship) = $0 { relationship.destination } else { -1 } }
        requiredSlots = slots.indices.filter {
            if case .toOne(let relationship) = slots[$0] { !relationship.isOptional } else { false }
        }
        boundedSlots = slots.indices.filter {
            if case .toMany(let relationship) = slots[$0] { relationship.bounds != .none } else { false }
        }
    }

    /// Whether the entity has secondary or text indexes.
    var hasDerivedKeys: Bool { !secondaryIndexes.isEmpty || !textIndexes.isEmpty }

    /// Whether a slot is a reference with a position in a collection of the other side.
    package func hasPosition(_ slot: Int) -> Bool {
        guard case .toOne(let relationship) = slots[slot], case .toMany = relationship.inverse else { return false }
        return true
    }

    /// Whether the bytes of a slot's value are stored, and no index key is made of them.
    package func maySpill(_ slot: Int) -> Bool {
        indexedSlots & SlotMask.bit(slot) == 0 && !ephemeralSlots.contains(slot)
    }
}

/// The indexes of an entity.
struct EntityIndexes {
    var unique: [UniqueIndex] = []
    var secondary: [SecondaryIndex] = []
    var texts: [TextIndex] = []
    var members: [MemberIndex] = []
}

/// The kind of an entity's slot.
package enum SlotStorage: Sendable, Equatable {
    case attribute
    case toOne(ToOneStorage)
    case toMany(ToManyStorage)
}

/// A to-one relationship: the target's identifier is in the row.
package struct ToOneStorage: Sendable, Equatable {
    /// Ordinal of the destination entity.
    package let destination: Int
    package let inverse: Inverse
    package let deleteRule: Schema.Relationship.DeleteRule
    package let isOptional: Bool

    package enum Inverse: Sendable, Equatable {
        case none
        /// Slot of the destination that points back.
        case toOne(slot: Int)
        case toMany(slot: Int)
    }
}

/// A to-many relationship: its members are in an index.
package struct ToManyStorage: Sendable, Equatable {
    package let destination: Int
    package let deleteRule: Schema.Relationship.DeleteRule
    package let bounds: MemberBounds
    package let members: Members

    package enum Members: Sendable, Equatable {
        /// The members' own to-one slot stores the relationship.
        case inverse(slot: Int, index: IndexDefinition)
        /// A hidden table stores it; `inverseSlot` is the to-many slot at the other side, −1 for none.
        case link(LinkSide, inverseSlot: Int)

        /// The index of an owner's members.
        package var index: IndexDefinition {
            switch self {
            case .inverse(_, let index): index
            case .link(let side, _): side.index
            }
        }
    }
}

/// The bounds of the number of members of a to-many relationship.
package struct MemberBounds: Sendable, Equatable {
    /// 0 for none.
    package let least: Int
    /// 0 for none.
    package let greatest: Int
    /// Whether an empty collection is allowed even if `least` is above 0.
    package let mayBeEmpty: Bool

    package static let none = MemberBounds(least: 0, greatest: 0, mayBeEmpty: false)

    init(least: Int, greatest: Int, mayBeEmpty: Bool) {
        self.least = least
        self.greatest = greatest
        self.mayBeEmpty = mayBeEmpty
    }

    init(_ relationship: Schema.Relationship) {
        let least = max(relationship.minimumModelCount ?? 0, 0)
        self.init(
            least: least, greatest: max(relationship.maximumModelCount ?? 0, 0),
            mayBeEmpty: least > 0 && relationship.isOptional)
    }

    package func allow(_ count: Int) -> Bool {
        if count < least, !(mayBeEmpty && count == 0) { return false }
        return greatest == 0 || count <= greatest
    }
}

/// One side of a link table, seen from the side that owns the collection.
package struct LinkSide: Sendable, Equatable {
    package let table: TableID
    package let layout: UInt16
    package let isLeft: Bool
    /// Index by this side's object.
    package let index: IndexDefinition
    /// Index by the other side's object.
    package let otherIndex: IndexDefinition

    /// The left or the right side of a link.
    package init(_ link: StoredLink, isLeft: Bool) {
        table = TableID(rawValue: link.table)
        layout = link.layout
        self.isLeft = isLeft
        index = SchemaStorage.memberDefinition(isLeft ? link.leftIndex : link.rightIndex)
        otherIndex = SchemaStorage.memberDefinition(isLeft ? link.rightIndex : link.leftIndex)
    }
}

/// A uniqueness constraint with its index.
package struct UniqueIndex: Sendable, Equatable {
    package let definition: IndexDefinition
    package let slots: [Int]
    /// The slots without those of marks of classes: the properties that a constraint names.
    package let namedSlots: [Int]
    /// The mark of the class that declares the constraint; nil for one of all rows.
    let mark: Int?
    /// The slots as a mask.
    package let mask: UInt64

    init(definition: IndexDefinition, slots: [Int], marks: Set<Int> = []) {
        self.definition = definition
        self.slots = slots
        namedSlots = marks.isEmpty ? slots : slots.filter { !marks.contains($0) }
        mark = marks.isEmpty ? nil : slots.first(where: marks.contains)
        mask = slots.reduce(0) { $0 | SlotMask.bit($1) }
    }
}

/// The index of a to-one slot by target: the members of the to-many side.
package struct MemberIndex: Sendable, Equatable {
    package let definition: IndexDefinition
    package let slot: Int
}
