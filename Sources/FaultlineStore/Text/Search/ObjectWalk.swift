internal import FaultlineLog

/// Visits objects in ascending order.
///
/// Not for two threads at once.
class ObjectWalk {
    /// The current object; `UInt64.max` at the end, 0 before the first move.
    // Safe because no access to a number calls anything.
    @exclusivity(unchecked) final var current: RecordID = 0

    /// Moves to the first object that is not below another one; does nothing if the current one is not.
    func seek(_ id: RecordID) throws(StoreError) {}
}

extension UncountedList where Element: ObjectWalk {
    /// The first object, not below another one, that all walks visit; `UInt64.max` if there is none.
    @inline(__always)
    func agreed(_ id: RecordID) throws(StoreError) -> RecordID {
        var target = id
        var place = 0
        while place < count {
            let found = try with(place) { (walk) throws(StoreError) in
                try walk.seek(target)
                return walk.current
            }
            if found == .max { return .max }
            // The walks before this one have to move too.
            place = found == target || place == 0 ? place + 1 : 0
            target = found
        }
        return target
    }
}
