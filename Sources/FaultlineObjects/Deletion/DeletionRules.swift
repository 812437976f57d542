internal import FaultlineModel
internal import FaultlineStore

/// The effects of deleting an object of an entity: its relationships' slots, by effect.
struct DeletionRules {
    /// Slots whose objects are deleted too.
    private(set) var cascadingToOne: [Int] = []
    private(set) var cascadingToMany: [Int] = []
    /// Slots that deny the deletion while there are objects in them.
    private(set) var denying: [Int] = []
    /// Slots whose objects refer to the deleted one in a slot of their own, which is cleared.
    private(set) var clearing: [Partner] = []
    /// The same for a slot that is left unchanged, and so dangles.
    private(set) var leaving: [Partner] = []
    /// Slots that lead to owners of collections with a minimum or maximum number of members.
    private(set) var counted: [Partner] = []

    /// A slot, and the slot of its objects that refers to the deleted one.
    struct Partner {
        let slot: Int
        let isToOne: Bool
        let destination: Int
        let inverse: Int
        /// Whether the inverse may be nil.
        let isOptional: Bool
    }

    init(_ entity: EntityStorage, _ entities: [EntityStorage]) {
        for (slot, storage) in entity.slots.enumerated() {
            switch storage {
            case .attribute: continue
            case .toOne(let relationship): add(relationship, slot, entities)
            case .toMany(let relationship): add(relationship, slot, entities)
            }
        }
    }

    /// Whether a slot of another entity's objects is cleared.
    func clears(_ slot: Int, of ordinal: Int) -> Bool {
        clearing.contains { $0.inverse == slot && $0.destination == ordinal }
    }

    private mutating func add(_ relationship: ToOneStorage, _ slot: Int, _ entities: [EntityStorage]) {
        switch relationship.deleteRule {
        case .cascade: cascadingToOne.append(slot)
        case .deny: denying.append(slot)
        case .nullify, .noAction: break
        }
        let destination = entities[relationship.destination]
        switch relationship.inverse {
        case .none: break
        case .toOne(let inverse): add(relationship.deleteRule, slot, isToOne: true, destination, inverse)
        case .toMany(let inverse):
            guard destination.boundedSlots.contains(inverse) else { break }
            counted.append(
                Partner(slot: slot, isToOne: true, destination: destination.ordinal, inverse: inverse, isOptional: true)
            )
        }
    }

    private mutating func add(_ relationship: ToManyStorage, _ slot: Int, _ entities: [EntityStorage]) {
        switch relationship.deleteRule {
        case .cascade: cascadingToMany.append(slot)
        case .deny: denying.append(slot)
        case .nullify, .noAction: break
        }
        // Links are deleted with the object under every rule: no other object stores them.
        guard case .inverse(let inverse, _) = relationship.members else { return }
        add(relationship.deleteRule, slot, isToOne: false, entities[relationship.destination], inverse)
    }

    private mutating func add(
        _ rule: Schema.Relationship.DeleteRule, _ slot: Int, isToOne: Bool, _ destination: EntityStorage, _ inverse: Int
    ) {
        let partner = Partner(
            slot: slot, isToOne: isToOne, destination: destination.ordinal, inverse: inverse,
            isOptional: !destination.requiredSlots.contains(inverse))
        switch rule {
        case .nullify: clearing.append(partner)
        case .noAction: leaving.append(partner)
        case .cascade, .deny: break
        }
    }
}
