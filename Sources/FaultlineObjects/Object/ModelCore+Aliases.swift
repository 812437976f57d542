// Objects that pass accesses on to another one: those that were saved onto its row, and views of it.

extension ModelCore {
    /// The core that an alias passes accesses on to; nil for every other object.
    var canonicalCore: UnsafeMutablePointer<ModelCore>? { has(.alias) ? canonical?.core : nil }

    /// The object that an alias passes accesses on to.
    ///
    /// The object of a view may have become an alias itself.
    var canonical: ObjectHandle? {
        guard let handle = extraIfPresent?.canonical, handle.core.pointee.has(.alias) else {
            return extraIfPresent?.canonical
        }
        return handle.core.pointee.canonical ?? handle
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
            // The other object is one of the store: its computed values follow from the row that was saved.
            canonical.core.pointee.remove(.awake)
            extra.ephemerals = [:]
        }
        if let view = extraIfPresent?.view, canonical.core.pointee.extra.view == nil {
            canonical.core.pointee.extra.view = view
        }
        extra.canonical = canonical
    }
}
