// Rehearsed saves: those of a data store of the user's.

extension Save {
    /// Notes the objects of a rehearsed save, and ends it.
    func endRehearsal(_ rehearsal: SaveRehearsal) throws {
        addWritten(to: &rehearsal.identifiers)
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
