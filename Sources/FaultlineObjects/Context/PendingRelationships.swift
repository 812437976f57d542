internal import FaultlineLog
internal import FaultlineStore

/// How unsaved changes alter the members of to-many relationships, before a save makes the indexes say the same.
struct PendingRelationships {
    /// A to-many relationship of one object.
    struct Key: Hashable {
        let entity: Int
        let slot: Int
        let owner: ObjectReference

        func hash(into hasher: inout Hasher) {
            // One word is hashed in a third of the time of three.
            hasher.combine(owner.bits ^ UInt64(truncatingIfNeeded: entity &* 64 &+ slot) << 49)
        }
    }

    /// What is different from the stored members.
    ///
    /// Nobody adds an object that is there: callers add a member when its own side of the relationship comes to point
    /// here.
    final class Delta {
        private(set) var added: [ObjectHandle] = []
        private(set) var removed: Set<ObjectReference> = []
        /// All members in the order the user gave them; nil where only the sets above are known.
        var assigned: [ObjectHandle]?

        func add(_ handle: ObjectHandle) {
            // One that left and came back keeps its mark in `removed`: its old place is gone, it stands at the end.
            added.append(handle)
            if assigned != nil, assigned?.contains(where: { $0.object === handle.object }) == false {
                assigned?.append(handle)
            }
        }

        func remove(_ reference: ObjectReference) {
            if let place = added.lastIndex(where: { $0.reference == reference }) {
                added.remove(at: place)
            } else if !reference.isTemporary {
                removed.insert(reference)
            }
            assigned?.removeAll { $0.reference == reference }
        }
    }

    /// A link that a save makes or removes, seen from the left.
    struct Link: Hashable {
        let table: TableID
        let left: ObjectReference
        let right: ObjectReference
    }

    private(set) var deltas: [Key: Delta] = [:]
    /// True: make the link; false: remove it.
    private(set) var links: [Link: Bool] = [:]

    var isEmpty: Bool { deltas.isEmpty && links.isEmpty }

    mutating func delta(_ key: Key) -> Delta {
        if let delta = deltas[key] { return delta }
        let made = Delta()
        deltas[key] = made
        return made
    }

    func existing(_ key: Key) -> Delta? { deltas.isEmpty ? nil : deltas[key] }

    mutating func setLink(_ link: Link, isPresent: Bool) {
        // Made and removed again, or the other way round: nothing to do.
        if let known = links[link], known != isPresent { links[link] = nil } else { links[link] = isPresent }
    }

    /// Drops what concerns an unsaved object that leaves the context.
    mutating func forget(_ reference: ObjectReference) {
        for key in deltas.keys where key.owner == reference { deltas[key] = nil }
        for link in links.keys where link.left == reference || link.right == reference { links[link] = nil }
        for delta in deltas.values { delta.remove(reference) }
    }

    mutating func removeAll() {
        deltas.removeAll()
        links.removeAll()
    }
}
