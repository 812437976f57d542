/// Large values that an object was given by reference, by slot: they belong to another object, or to none, until a save
/// moves, places or copies them.
///
/// The first one, which is often the only one, costs no allocation.
struct GivenValues {
    struct Value {
        let slot: Int
        /// The number in the draft's reference.
        let number: UInt64
        /// Where the value can be read.
        let source: any BlobSource
    }

    private var first: Value?
    private var others: [Value] = []

    var isEmpty: Bool { first == nil }

    /// The value of a slot; nil if it was not given by reference.
    subscript(slot: Int) -> Value? {
        guard let first else { return nil }
        return first.slot == slot ? first : others.first { $0.slot == slot }
    }

    /// All values, by slot.
    var sorted: [Value] {
        guard let first else { return [] }
        return others.isEmpty ? [first] : ([first] + others).sorted { $0.slot < $1.slot }
    }

    /// Sets the value of a slot.
    mutating func set(_ slot: Int, to number: UInt64, in source: any BlobSource) {
        remove(slot)
        let value = Value(slot: slot, number: number, source: source)
        if first == nil { first = value } else { others.append(value) }
    }

    /// Removes the value of a slot.
    mutating func remove(_ slot: Int) {
        if first?.slot == slot {
            first = others.popLast()
        } else {
            others.removeAll { $0.slot == slot }
        }
    }
}
