/// A save that is carried out to its end and then dropped, to learn which objects it writes, and that no rule refuses it.
package final class SaveRehearsal {
    /// Ends the rehearsed save.
    struct Ended: Error {}

    /// The objects that would be written.
    var identifiers = SavedIdentifiers()
    /// Objects that the save would store under new numbers.
    var inserted: [ObjectHandle] = []
    /// New objects that take the place of stored ones, with the identifiers of those.
    var combined: [(object: ObjectHandle, stored: PersistentIdentifier)] = []
}

extension Save {
    /// Notes the objects of a rehearsed save, and ends it.
    func endRehearsal(_ rehearsal: SaveRehearsal) throws {
        let told = context.saving.identifiers
        context.saving.identifiers = SavedIdentifiers()
        collectSaved(0)
        rehearsal.identifiers = context.saving.identifiers ?? SavedIdentifiers()
        context.saving.identifiers = told
        for (position, handle) in context.pending.living.enumerated() where numbers[position] != 0 {
            guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { continue }
            if upserts.contains(position) {
                let number = ObjectReference(number: numbers[position], isTemporary: false)
                rehearsal.combined.append((handle, context.identifier(of: number, entity)))
            } else {
                rehearsal.inserted.append(handle)
            }
        }
        throw SaveRehearsal.Ended()
    }
}
