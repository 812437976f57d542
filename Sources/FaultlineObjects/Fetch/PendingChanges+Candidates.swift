internal import FaultlineStore

extension PendingChanges {
    /// The changed and inserted objects that may satisfy a query: by the value of an attribute, if the query has one.
    ///
    /// - Complexity: O(objects inserted or changed since the last call, and objects of that value) if the query
    ///   requires one value of an attribute; else O(unsaved objects of the entity).
    mutating func unsavedCandidates<T: PersistentModel>(_ query: Query<T>) -> [ObjectHandle] {
        if !hasInserts, changed.isEmpty { return [] }
        bringBack(of: query.home)
        for case .compare(let slot, .equal, let value) in query.lowered.filter.conjuncts
        where query.entity.slots[slot] == .attribute {
            var key = KeyWriter()
            guard key.append(value, as: query.entity.layout.columns[slot].kind) else { continue }
            let found = key.withBytes {
                lookup.objects(query.home, query.entity.ordinal, lists, slot: slot, key: $0)
            }
            return found.filter { !$0.core.pointee.has(.deleted) }
        }
        return unsavedObjects(query.home)
    }
}
