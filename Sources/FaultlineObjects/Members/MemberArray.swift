internal import Glibc

/// The members of one to-many slot as an array that a change in place takes out: `append` costs as much as that of an
/// array.
///
/// Two arrays are kept. `settled` has the members that inverses and indexes know. The property returns the other one,
/// which a change in place takes out, so that it has the only reference to its memory. If the array comes back longer,
/// its new members join at once, and the old part counts as unchanged until `compare` compares the memory of both.
final class MemberArray {
    /// Empty while it is lent.
    @exclusivity(unchecked) private var current: [AnyObject]
    /// The members that the inverse sides know.
    @exclusivity(unchecked) private(set) var settled: [AnyObject]
    /// Whether a change in place is using the array.
    @exclusivity(unchecked) private(set) var isLent = false
    /// Whether the old part of the array is known to equal `settled`.
    @exclusivity(unchecked) private(set) var isCompared = true
    /// Members that were compared so far: shows the cost of changes in place.
    @exclusivity(unchecked) private(set) var comparedCount = 0
    /// Made when a member is first looked up.
    @exclusivity(unchecked) private var known: Set<ObjectIdentifier>?

    /// The most members of arrays that are compared at once: 4 KiB of memory.
    private static let comparedAtOnceMax = 512

    init(_ members: [AnyObject]) {
        current = members
        settled = members
    }

    /// The members that the property returns; during a change in place, the members before it.
    var members: [AnyObject] { isLent ? settled : current }

    /// How a change in place has changed the array.
    enum Change {
        case none
        /// Members were added from an index on.
        case appended(Int)
        /// Members from an index on were removed.
        case cut(Int)
        case other
    }

    /// Lends the array to a change in place; a second change gets a copy, and the one that ends last wins.
    func lend() -> [AnyObject] {
        guard !isLent else { return settled }
        isLent = true
        var lent: [AnyObject] = []
        swap(&lent, &current)
        return lent
    }

    /// Finds how a lent array has changed.
    ///
    /// - Complexity: O(1) if it grew by `append` beyond a few members; else one comparison of memory.
    func change(to members: [AnyObject]) -> Change {
        let count = settled.count
        if members.count > count {
            guard count == 0 || members[count - 1] === settled[count - 1] else { return .other }
            if count <= Self.comparedAtOnceMax, !begins(members, count) { return .other }
            return .appended(count)
        }
        guard begins(members, members.count) else { return .other }
        return members.count == count ? .none : .cut(members.count)
    }

    /// Ends a change in place: the array belongs to the property again.
    ///
    /// - Parameters:
    ///   - members: The returned array; its new members are settled.
    ///   - count: The number of members before.
    /// - Returns: Whether `compare` has work to do now, and had none before.
    func takeBack(_ members: [AnyObject], hadCount count: Int) -> Bool {
        let wasCompared = isCompared
        isLent = false
        current = members
        isCompared = count <= Self.comparedAtOnceMax || count >= members.count
        return wasCompared && !isCompared
    }

    /// Ends a change in place whose array is dropped: the property returns the settled members.
    func takeBackSettled() {
        isLent = false
        current = settled
        isCompared = true
    }

    /// Compares the old part, unless that was done.
    ///
    /// - Returns: Whether the property returns the settled members.
    /// - Complexity: One comparison of memory, after a change in place; else O(1).
    func compare() -> Bool {
        if !isCompared { isCompared = current.count == settled.count && begins(current, settled.count) }
        return isCompared
    }

    /// Adds a member that joined from its own side.
    func append(_ member: AnyObject) {
        settled.append(member)
        if !isLent { current.append(member) }
        known?.insert(ObjectIdentifier(member))
    }

    /// Removes the last member.
    ///
    /// - Returns: False if it is not the last one; nothing is changed then.
    func removeLast(_ member: AnyObject) -> Bool {
        guard settled.last === member, isLent || current.last === member else { return false }
        settled.removeLast()
        if !isLent { current.removeLast() }
        known?.remove(ObjectIdentifier(member))
        return true
    }

    /// Removes a member at any position.
    func remove(_ isWanted: (AnyObject) -> Bool) {
        settled.removeAll(where: isWanted)
        current.removeAll(where: isWanted)
        known = nil
    }

    /// Whether an object is a settled member.
    ///
    /// - Complexity: O(1), except the first time.
    func contains(_ object: AnyObject) -> Bool {
        if known == nil { known = Set(settled.lazy.map { ObjectIdentifier($0) }) }
        return known?.contains(ObjectIdentifier(object)) == true
    }

    /// Whether both arrays have the same length and the same members from an index on.
    func endsAlike(_ members: [AnyObject], from place: Int) -> Bool {
        guard members.count == settled.count else { return false }
        return (place..<members.count).allSatisfy { members[$0] === settled[$0] }
    }

    /// Whether the first members of an array are those of `settled`.
    private func begins(_ members: [AnyObject], _ count: Int) -> Bool {
        comparedCount += count
        return members.withUnsafeBufferPointer { new in
            settled.withUnsafeBufferPointer { old in
                guard count > 0, let new = new.baseAddress, let old = old.baseAddress else { return count == 0 }
                // Safe because an element is one reference, and both have this many elements.
                return new == old || memcmp(new, old, count * MemoryLayout<AnyObject>.stride) == 0
            }
        }
    }

    // MARK: Types

    /// Casts an array of members to one of their class.
    @inline(__always)
    static func typed<T: AnyObject>(_ members: [AnyObject], as type: T.Type = T.self) -> [T] {
        assert(members.last.map { $0 is T } != false)
        // Safe because an element of any class is one reference, and each is a T: the slot's class is T.
        return unsafeBitCast(members, to: [T].self)
    }

    /// Takes an array of members out of a variable, without their class: its memory then has no other owner.
    static func takeErased<T: AnyObject>(_ members: inout [T]) -> [AnyObject] {
        var taken: [T] = []
        swap(&taken, &members)
        // Safe because an element of any class is one reference.
        return unsafeBitCast(taken, to: [AnyObject].self)
    }
}
