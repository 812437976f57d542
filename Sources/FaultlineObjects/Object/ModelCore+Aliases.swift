// Objects that were saved onto the row of another one.

extension ModelCore {
    /// The core that an alias passes accesses on to; nil for every other object.
    var canonicalCore: UnsafeMutablePointer<ModelCore>? {
        has(.alias) ? extraIfPresent?.canonical?.core : nil
    }

    /// Makes a saved object the alias of the one that represents its row.
    mutating func becomeAlias(of canonical: ObjectHandle) {
        insert(.alias)
        if let observation = extraIfPresent?.observation {
            // Observers of this object observe the other one from now on.
            leaveObservation()
            extra.observation = nil
            if canonical.core.pointee.extra.observation == nil {
                canonical.core.pointee.extra.observation = observation
                canonical.core.pointee.enterObservation()
            }
        }
        if let given = extraIfPresent?.ephemerals, !given.isEmpty {
            canonical.core.pointee.extra.ephemerals.merge(given) { _, new in new }
            extra.ephemerals = [:]
        }
        extra.canonical = canonical
    }
}
