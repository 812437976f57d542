/// Values by slot; the first one, which is often the only one, costs no allocation.
struct SlotMap<Value> {
    private var first: (slot: Int, value: Value)?
    private var others: [(slot: Int, value: Value)] = []

    var isEmpty: Bool { first == nil }

    /// The value, if it is the only one.
    var only: Value? { others.isEmpty ? first?.value : nil }

    subscript(slot: Int) -> Value? {
        get {
            if let first, first.slot == slot { return first.value }
            return others.first { $0.slot == slot }?.value
        }
        set {
            remove(slot)
            guard let newValue else { return }
            if first == nil { first = (slot, newValue) } else { others.append((slot, newValue)) }
        }
    }

    /// The same values under other slots; those without one are left out.
    func moved(_ place: (Int) -> Int?) -> SlotMap {
        var moved = SlotMap()
        forEach { slot, value in if let target = place(slot) { moved[target] = value } }
        return moved
    }

    private mutating func remove(_ slot: Int) {
        if first?.slot == slot {
            first = others.popLast()
        } else {
            others.removeAll { $0.slot == slot }
        }
    }

    /// Calls `body` with each value, in the order of the slots.
    ///
    /// It sees the values of this moment, so that `body` may set others.
    func forEach(_ body: (Int, Value) throws -> Void) rethrows {
        guard let first else { return }
        if others.isEmpty { return try body(first.slot, first.value) }
        for (slot, value) in ([first] + others).sorted(by: { $0.slot < $1.slot }) { try body(slot, value) }
    }
}
