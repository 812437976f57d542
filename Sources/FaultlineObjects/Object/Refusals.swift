/// Why a context's next save throws: changes and calls that were refused where nothing could be thrown.
///
/// A refused change of a property stands until the property is set again, the object's changes are dropped, or the context
/// is rolled back: else a second save would store the rest without it. One save reports a refused call.
struct Refusals {
    /// A property of one object.
    struct Place {
        let object: ObjectHandle
        let slot: Int
    }

    private var all: [(error: any Error, place: Place?)] = []
    /// The property that is being changed.
    private var changing: Place?

    var isEmpty: Bool { all.isEmpty }

    /// The first error.
    var first: (any Error)? { all.first?.error }

    /// Begins the change of a property, to which errors belong until `end`; false within another change.
    mutating func begin(_ object: ObjectHandle, _ slot: Int) -> Bool {
        guard changing == nil else { return false }
        changing = Place(object: object, slot: slot)
        return true
    }

    /// Ends a change; `isOutermost` is what `begin` returned.
    mutating func end(_ isOutermost: Bool) { if isOutermost { changing = nil } }

    /// Notes that the change of a property was refused.
    mutating func add(_ error: any Error, at place: Place) {
        settle(place.object.core, place.slot)
        all.append((error, place))
        place.object.core.pointee.insert(.refused)
    }

    /// Notes that the change that was begun was refused; where there is none, a call.
    mutating func add(_ error: any Error) {
        if let changing { return add(error, at: changing) }
        addCall(error)
    }

    /// Notes that a call was refused; the first one is kept.
    mutating func addCall(_ error: any Error) {
        if !all.contains(where: { $0.place == nil }) { all.append((error, nil)) }
    }

    /// A property was set again; nil: the changes of the object were dropped.
    mutating func settle(_ core: UnsafeMutablePointer<ModelCore>, _ slot: Int?) {
        guard core.pointee.has(.refused) else { return }
        all.removeAll { $0.place?.object.core == core && (slot == nil || $0.place?.slot == slot) }
        if !all.contains(where: { $0.place?.object.core == core }) { core.pointee.remove(.refused) }
    }

    /// All changes were dropped.
    mutating func removeAll() {
        for place in all.compactMap(\.place) { place.object.core.pointee.remove(.refused) }
        all.removeAll()
    }

    /// The error for a save to throw: the first one.
    ///
    /// Removes refused calls; refused changes stay.
    mutating func next() -> (any Error)? {
        guard let first else { return nil }
        all.removeAll { $0.place == nil }
        return first
    }
}
