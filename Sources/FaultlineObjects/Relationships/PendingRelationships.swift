internal import FaultlineLog
internal import FaultlineStore

/// The unsaved changes of to-many relationships, until a save enters them in the indexes.
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

    /// The difference from the stored members.
    ///
    /// Callers never add an object that is a member already: they add one when its own side of the relationship is set
    /// to this owner.
    final class Delta {
        /// Whether its list has dropped it.
        @exclusivity(unchecked) var isDropped = false
        @exclusivity(unchecked) private(set) var added = MemberList()
        private(set) var removed: Set<ObjectReference> = []
        /// All members in the order the user assigned; nil if only the sets above are known.
        @exclusivity(unchecked) private(set) var assigned: MemberList?

        func add(_ handle: ObjectHandle) {
            // A member that left and came back stays in `removed`: it has lost its old position, and is at the end.
            added.append(handle)
            if assigned?.contains(handle.reference) == false { assigned?.append(handle) }
        }

        func remove(_ reference: ObjectReference) {
            if !added.remove(reference), !reference.isTemporary { removed.insert(reference) }
            assigned?.remove(reference)
        }

        /// Whether an object is a member according to the differences; nil if they do not say.
        func isMember(_ reference: ObjectReference) -> Bool? {
            if added.contains(reference) { return true }
            return removed.contains(reference) ? false : nil
        }

        /// Undoes the removal of a stored member.
        func takeBack(_ handle: ObjectHandle) {
            removed.remove(handle.reference)
            guard !added.remove(handle.reference) else { return }
            if assigned?.contains(handle.reference) == false { assigned?.append(handle) }
        }

        /// Forgets a removal, because another save has removed the member too.
        func forgetRemoval(of reference: ObjectReference) { removed.remove(reference) }

        /// Drops the order that the user assigned.
        func forgetOrder() { assigned = nil }

        /// Whether there is no difference.
        var isEmpty: Bool { added.isEmpty && removed.isEmpty && assigned == nil }

        /// Lets go of the members that joined, if a save needs nothing but their own side.
        func takeOut() -> [UnsafeMutablePointer<ModelCore>]? { assigned == nil ? added.takeOut() : nil }

        func putBack(_ handles: [ObjectHandle], spilled count: Int) { added.putBack(handles, spilled: count) }

        func bringBack(_ made: [ObjectHandle]) { added.bringBack(made) }

        /// Whether members were let go, and a save needs them.
        var needsSpilled: Bool { added.spilledCount > 0 && (assigned != nil || !added.isNewByNumber) }

        func assign(_ members: [ObjectHandle]) { assigned = MemberList(members) }

        /// Drops objects that leave the context.
        fileprivate func forget(_ references: Set<ObjectReference>) {
            added.removeAll(references)
            assigned?.removeAll(references)
        }
    }

    /// A link that a save makes or removes, seen from the left.
    struct Link: Hashable {
        let table: TableID
        let left: ObjectReference
        let right: ObjectReference
    }

    private var deltas = DeltaList()
    /// True: make the link; false: remove it.
    private(set) var links: [Link: Bool] = [:]

    var isEmpty: Bool { deltas.isEmpty && links.isEmpty }

    mutating func delta(_ key: Key) -> Delta { deltas[key] ?? deltas.append(key) }

    func existing(_ key: Key) -> Delta? { deltas[key] }

    /// How many links of a table are made or removed.
    ///
    /// - Complexity: O(*n*) for all links.
    func linkCount(in table: TableID) -> Int { links.keys.count { $0.table == table } }

    /// Drops the difference of one collection.
    mutating func drop(_ key: Key) { deltas.drop(key) }

    mutating func setLink(_ link: Link, isPresent: Bool) {
        // Made and removed again, or the reverse: nothing to do.
        if let known = links[link], known != isPresent { links[link] = nil } else { links[link] = isPresent }
    }

    /// The differences in the order of their creation, so that the same changes are written in the same order.
    var inOrder: [(key: Key, delta: Delta)] { deltas.inOrder }

    /// Drops changes that involve unsaved objects which leave the context: all of them in one call, because it walks
    /// all pending changes.
    mutating func forget(_ references: Set<ObjectReference>) {
        guard !references.isEmpty, !isEmpty else { return }
        links = links.filter { !references.contains($0.key.left) && !references.contains($0.key.right) }
        deltas.removeAll { key, delta in
            if references.contains(key.owner) { return true }
            delta.forget(references)
            return delta.isEmpty
        }
    }

    mutating func removeAll() {
        deltas.removeAll()
        links.removeAll()
    }
}
