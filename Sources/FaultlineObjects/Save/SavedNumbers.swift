internal import FaultlineLog

/// The numbers that a save assigns to inserted objects, by their position in `inserted`.
struct SavedNumbers {
    /// 0 for an object that is not written.
    private(set) var numbers: [RecordID] = []
    /// The numbers of objects that the context has let go.
    var spilled = SpilledNumbers()
    /// Positions by temporary number; made on first use.
    private var positions: [UInt64: Int]?

    /// Begins with `count` objects without a number.
    mutating func begin(_ count: Int) {
        // Not `Array(repeating:count:)`, which looks up the type of the array in the runtime.
        numbers = []
        numbers.reserveCapacity(count)
        for _ in 0..<count { numbers.append(0) }
        spilled = SpilledNumbers()
        positions = nil
    }

    @inline(__always)
    subscript(position: Int) -> RecordID {
        get { numbers[position] }
        set { numbers[position] = newValue }
    }

    /// The number that an object has once it is saved; 0 if it is not saved, or not known yet.
    mutating func number(_ reference: ObjectReference, _ inserted: [ObjectHandle]) -> RecordID {
        guard reference.isTemporary else { return reference.number }
        if let position = position(reference, inserted) { return numbers[position] }
        return spilled.isEmpty ? 0 : spilled.number(reference.number)
    }

    /// The position of an inserted object; nil for any other.
    mutating func position(_ reference: ObjectReference, _ inserted: [ObjectHandle]) -> Int? {
        guard reference.isTemporary else { return nil }
        if positions == nil {
            var made = [UInt64: Int](minimumCapacity: inserted.count)
            for (position, handle) in inserted.enumerated() { made[handle.core.pointee.number] = position }
            positions = made
        }
        return positions?[reference.number]
    }
}
