internal import CFaultline
internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore

extension ContextCore {
    /// Makes deleted objects that are in the store again faults of their rows: an undo of a save restores objects with
    /// their numbers.
    ///
    /// - Parameters:
    ///   - old: The state that the context leaves.
    ///   - new: The state that it will read.
    /// - Complexity: O(living objects), if an object was restored behind the old state; O(1) else.
    func showRestored(from old: UInt64, to new: Snapshot) {
        // Another process does not say that it restores objects.
        guard store.log.restoringSequence > old || store.log.isFollowing else { return }
        var isOneLeft = false
        for home in homes.all {
            guard let entity = home.entity else { continue }
            for (number, handle) in livingObjects(home) where handle.core.pointee.has(.gone) {
                let isAbsent = (try? new.location(of: number, in: entity.table).isAbsent) ?? true
                guard !isAbsent else {
                    isOneLeft = true
                    continue
                }
                handle.core.pointee.comeBack()
            }
        }
        state.hasGoneObjects = isOneLeft
    }

    /// The registered objects that are alive.
    func livingObjects(_ home: EntityHome) -> [(number: RecordID, handle: ObjectHandle)] {
        var found: [(number: RecordID, object: AnyObject)] = []
        lock.lock()
        // An object is retained here, and never released under the lock: its end takes the lock.
        home.identities.forEach { number, address in
            guard let pointer = UnsafeMutableRawPointer(bitPattern: address), fl_try_retain(pointer) else { return }
            found.append((number, Unmanaged<AnyObject>.fromOpaque(pointer).takeRetainedValue()))
        }
        lock.unlock()
        return found.compactMap { number, object in home.handle(of: object).map { (number, $0) } }
    }
}

extension ModelCore {
    /// Makes a deleted object a fault of its row, which is in the store again.
    fileprivate mutating func comeBack() {
        remove(.gone)
        remove(.deletedElsewhere)
        // Its changes were refused, and may be saved now.
        if has(.changed) { return }
        dropDraft()
        dropExtra()
        remove(.damaged)
        row = .none
    }
}
