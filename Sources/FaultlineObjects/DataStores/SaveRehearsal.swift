/// A save that is carried out to its end and then dropped, to learn which objects it writes, and that no rule refuses it.
final class SaveRehearsal {
    /// Ends the rehearsed save.
    struct Ended: Error {}

    /// The objects that would be written.
    var identifiers = SavedIdentifiers()
    /// New objects, with the identifiers that they would get.
    var inserted: [(object: ObjectHandle, identifier: PersistentIdentifier)] = []
    /// New objects that take the place of another one, stored or new, by the identifier of that.
    var combined: [PersistentIdentifier: [ObjectHandle]] = [:]
}
