internal import FaultlineDisk
internal import FaultlineStore

extension UnsavedLookup {
    /// Checks that the lookup agrees with a walk over the visited parts of the lists.
    ///
    /// - Throws: The first broken rule.
    /// - Complexity: O(unsaved objects · entities with lookups).
    func checkInvariants(_ lists: Lists, _ homes: [EntityHome]) throws(BrokenInvariant) {
        guard placedCount <= lists.inserted.count else { throw broken("it has visited more objects than there are") }
        let places = Dictionary(
            uniqueKeysWithValues: lists.inserted[..<placedCount].enumerated().map { ($1.core.pointee.number, $0) })
        guard self.places == places else { throw broken("numbers lead to \(self.places) instead of \(places)") }
        for home in homes {
            guard let ordinal = home.entity?.ordinal, let entity = entities[ordinal] else { continue }
            guard entity.agreesWithWalks(home, lists) else { throw broken("objects of \(home.entityName) differ") }
        }
    }

    private func broken(_ detail: String) -> BrokenInvariant {
        BrokenInvariant("UnsavedLookup", "the lookup agrees with a walk over the lists", detail)
    }
}

extension UnsavedEntity {
    fileprivate func agreesWithWalks(_ home: EntityHome, _ lists: UnsavedLookup.Lists) -> Bool {
        guard seenInserted <= lists.inserted.count, seenChanged <= lists.changed.count,
            seenDeleted <= lists.deleted.count
        else { return false }
        let wanted = Unmanaged.passUnretained(home).toOpaque()
        func places(_ list: ArraySlice<ObjectHandle>) -> [Int] {
            list.indices.filter { list[$0].core.pointee.home.toOpaque() == wanted }
        }
        let deleted = lists.deleted[..<seenDeleted]
        return inserted == places(lists.inserted[..<seenInserted]) && changed == places(lists.changed[..<seenChanged])
            && deletedNumbers == Set(places(deleted).map { deleted[$0].core.pointee.number })
    }
}
