// Rehearsed saves: those of a data store of the user's.

extension Save {
    /// Notes the objects of a rehearsed save, and ends it.
    func endRehearsal(_ rehearsal: SaveRehearsal) throws {
        addWritten(to: &rehearsal.identifiers)
        for (position, handle) in context.pending.living.enumerated() where numbers[position] != 0 {
            guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { continue }
            let identifier = context.identifier(
                of: ObjectReference(number: numbers[position], isTemporary: false), entity)
            if upserts.contains(position) {
                rehearsal.combined[identifier, default: []].append(handle)
            } else {
                rehearsal.inserted.append((handle, identifier))
            }
        }
        throw SaveRehearsal.Ended()
    }
}
