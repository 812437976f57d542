/// The relationships of an object to come, by slot: the other sides do not know of them before there is the object.
final class HeldRelationships {
    private struct Held {
        let value: Any
        let give: (inout ModelCore, Int) -> Void
    }

    private var bySlot: [Int: Held] = [:]

    /// Keeps the value of a relationship, with the way in which an object gets it.
    func keep<Value>(_ value: Value, _ slot: Int, _ give: @escaping (inout ModelCore, Int) -> Void) {
        bySlot[slot] = Held(value: value, give: give)
    }

    /// The value that was kept; nil for none.
    func value<Value>(_ slot: Int) -> Value? { bySlot[slot].flatMap { $0.value as? Value } }

    /// Gives an object the relationships, in the order of their slots.
    ///
    /// The first one may insert the object into a context, where its slots differ.
    func give(to object: ObjectHandle, of type: ModelType) {
        for (slot, held) in bySlot.sorted(by: { $0.key < $1.key }) {
            held.give(&object.core.pointee, object.core.pointee.joinedSlot(slot, of: type))
        }
    }
}
