/// The arrays that a context keeps of its objects' to-many relationships, so that `append`, `count` and a subscript do
/// not collect the members each time.
///
/// All of them are dropped when the context moves to another state, saves or rolls back. An array that was changed in
/// place stays until then: its members are unsaved changes. Of the arrays that were only read the context keeps few,
/// and none that was read once.
struct MemberArrays {
    typealias Key = PendingRelationships.Key

    private var arrays: [Key: MemberArray] = [:]
    /// Arrays whose old part may have been changed in place.
    private var uncompared: [Key] = []
    /// Arrays that were only read, the oldest first.
    private var onlyRead: [Key] = []
    /// Collections that were read once, the oldest first.
    private var readOnce: [Key] = []
    /// Numbers of members that were counted in the index.
    private var counts: [Key: Int] = [:]

    /// How many arrays are kept that were only read.
    private static let onlyReadMax = 4
    /// How many counts are kept.
    private static let countMax = 64

    @inline(__always) var hasUncompared: Bool { !uncompared.isEmpty }

    @inline(__always)
    func existing(_ key: Key) -> MemberArray? { arrays.isEmpty ? nil : arrays[key] }

    /// Keeps an array for a change in place.
    mutating func enter(_ array: MemberArray, _ key: Key) { arrays[key] = array }

    /// Records that an array is about to be changed in place.
    mutating func noteChange(_ key: Key) {
        if !onlyRead.isEmpty { onlyRead.removeAll { $0 == key } }
    }

    /// Records that an array came back from a change in place that was not fully compared.
    mutating func noteUncompared(_ key: Key) { uncompared.append(key) }

    /// Keeps members that were collected for reading, if they are read a second time.
    mutating func noteRead(_ members: [AnyObject], _ key: Key) {
        guard let place = readOnce.firstIndex(of: key) else {
            if readOnce.count == Self.onlyReadMax { readOnce.removeFirst() }
            readOnce.append(key)
            return
        }
        readOnce.remove(at: place)
        if onlyRead.count == Self.onlyReadMax { arrays[onlyRead.removeFirst()] = nil }
        onlyRead.append(key)
        arrays[key] = MemberArray(members)
    }

    func count(_ key: Key) -> Int? { counts.isEmpty ? nil : counts[key] }

    /// Keeps a counted number of members.
    mutating func noteCount(_ count: Int, _ key: Key) {
        if counts.count >= Self.countMax { counts.removeAll(keepingCapacity: true) }
        counts[key] = count
    }

    /// Adds a member at the end, from its own side or from the owner's.
    @inline(__always)
    mutating func join(_ member: ObjectHandle, _ key: Key) {
        if arrays.isEmpty, counts.isEmpty { return }
        guard !member.core.pointee.isDeleted else { return drop(key) }
        arrays[key]?.append(member.object)
        if let count = counts[key] { counts[key] = count + 1 }
    }

    /// Removes a member.
    @inline(__always)
    mutating func leave(_ member: ObjectHandle, _ key: Key) {
        if arrays.isEmpty, counts.isEmpty { return }
        counts[key] = nil
        if let array = arrays[key], !array.removeLast(member.object) { drop(key) }
    }

    /// Drops an array that no longer shows the members.
    mutating func drop(_ key: Key) {
        if arrays.isEmpty, counts.isEmpty { return }
        counts[key] = nil
        guard arrays.removeValue(forKey: key) != nil else { return }
        onlyRead.removeAll { $0 == key }
        uncompared.removeAll { $0 == key }
    }

    /// Drops all arrays of members of an entity; `destination` returns the entity of a collection's members.
    mutating func dropAll(of entity: Int, destination: (Key) -> Int?) {
        if arrays.isEmpty, counts.isEmpty { return }
        for key in Array(arrays.keys) + Array(counts.keys) where destination(key) == entity { drop(key) }
    }

    /// Returns the arrays to compare, except those that a change in place uses; they count as compared from now on.
    mutating func takeUncompared() -> [(key: Key, array: MemberArray)] {
        let keys = uncompared
        uncompared = keys.filter { arrays[$0]?.isLent == true }
        return keys.compactMap { key in
            arrays[key].flatMap { $0.isLent ? nil : (key, $0) }
        }
    }

    mutating func removeAll() {
        readOnce.removeAll(keepingCapacity: true)
        if arrays.isEmpty, counts.isEmpty { return }
        arrays.removeAll()
        counts.removeAll()
        uncompared.removeAll()
        onlyRead.removeAll()
    }
}
