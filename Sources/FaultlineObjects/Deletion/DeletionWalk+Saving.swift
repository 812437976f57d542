internal import FaultlineLog
internal import FaultlineStore

// A walk as a part of a save: the context shows no effect before the save has succeeded, so that a failed save leaves it
// unchanged.

extension DeletionWalk {
    /// Collects the objects that the next save of a context deletes; nil if there are none.
    ///
    /// Between `beginReading` and `endReading`.
    static func ofNextSave(_ context: ContextCore, in state: borrowing some StoredState & ~Copyable) throws
        -> DeletionWalk?
    {
        guard context.pending.hasDeletions else { return nil }
        let walk = DeletionWalk(context)
        try walk.run(in: state)
        return walk
    }

    // MARK: Marks

    /// Marks living objects that are deleted, for the time of a save.
    ///
    /// - Returns: A call that removes the marks, after a failed save.
    func mark() -> () -> Void {
        context.saving.deletes = { [self] in isDoomed($0, $1) }
        for (ordinal, numbers) in doomed.enumerated() where context.homes[ordinal].identities.count > 0 {
            let home = context.homes[ordinal]
            numbers.forEach { number in
                guard let object = ObjectRegistry(context).registeredObject(number, home),
                    let handle = home.handle(of: object), !handle.core.pointee.isDeleted
                else { return }
                marked.append(handle)
            }
        }
        let count = context.pending.deleted.count
        context.pending.deleted += marked
        marked += unsaved.filter { !$0.core.pointee.has(.deleted) }
        for handle in marked { handle.core.pointee.insert(.deleted) }
        context.memberArrays.removeAll()
        return { [self] in
            context.memberArrays.removeAll()
            for handle in marked { handle.core.pointee.remove(.deleted) }
            context.pending.deleted.removeSubrange(count...)
        }
    }

    /// How many stored objects of each entity are deleted.
    var deletedCounts: [String: Int] {
        var counts: [String: Int] = [:]
        for (ordinal, numbers) in doomed.enumerated() where !numbers.isEmpty {
            counts[context.store.storage.entities[ordinal].name] = numbers.count
        }
        return counts
    }
}
