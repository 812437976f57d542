/// A save that is carried out to its end and then dropped, to learn which objects it writes, and that no rule refuses it.
final class SaveRehearsal {
    /// Ends the rehearsed save.
    struct Ended: Error {}

    /// The objects that would be written.
    var identifiers = SavedIdentifiers()
    /// Objects that the save would store under new numbers.
    var inserted: [ObjectHandle] = []
    /// New objects that take the place of stored ones, with the identifiers of those.
    var combined: [(object: ObjectHandle, stored: PersistentIdentifier)] = []
}
