internal import Glibc

/// The members of one to-many slot as an array that a change in place takes out: `append` costs as much as that of an
/// array.
///
/// Two arrays are kept. `settled` holds the members that inverses and indexes know. The property gives the other one,
/// which a change in place takes out, so that it is the only reference to its memory. Where the array came back longer,
/// its tail joins at once, and the old part counts as unchanged until `compare` holds both in memory against each other.
final class MemberArray {
    /// Empty while it is lent.
    @exclusivity(unchecked) private var current: [AnyObject]
    /// The members that the other sides of the relationship know.
    @exclusivity(unchecked) private(set) var settled: [AnyObject]
    /// Whether a change in place has the array.
    @exclusivity(unchecked) private(set) var isLent = false
    /// Whether the old part of the array is known to be that of `settled`.
    @exclusivity(unchecked) private(set) var isCompared = true
    /// Members that were compared so far: shows what changes in place cost.
    @exclusivity(unchecked) private(set) var comparedCount = 0
    /// Made when a member is first looked for.
    @exclusivity(unchecked) private var known: Set<ObjectIdentifier>?

    /// Arrays of at most so many members are compared at once: 4 KiB of memory.
    private static let comparedAtOnceMax = 512

    init(_ members: [AnyObject]) {
        current = members
        settled = members
    }

    /// The members that the property gives; while a change in place has them, those before it.
    var members: [AnyObject] { isLent ? settled : current }

    /// How an array came back from a change in place.
    enum Change {
        case none
        /// Members were added from a place on.
        case appended(Int)
        /// Members from a place on were taken out.
        case cut(Int)
        case other
    }

    /// Gives the array to a change in place; a second change gets a copy, and the one that ends last counts.
    func lend() -> [AnyObject] {
        guard !isLent else { return settled }
        isLent = true
        var lent: [AnyObject] = []
        swap(&lent, &current)
        return lent
    }

    /// Says how an array that was lent differs.
    ///
    /// - Complexity: O(1) where it grew by `append` beyond a few members; else one comparison of memory.
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

    /// Ends a change in place: the array is the property's again.
    ///
    /// - Parameters:
    ///   - members: The array as it came back; its tail is settled.
    ///   - count: How many members there were before.
    /// - Returns: Whether `compare` has something to do now, and had not before.
    func takeBack(_ members: [AnyObject], hadCount count: Int) -> Bool {
        let wasCompared = isCompared
        isLent = false
        current = members
        isCompared = count <= Self.comparedAtOnceMax || count >= members.count
        return wasCompared && !isCompared
    }

    /// Ends a change in place whose array is not wanted: the property gives the settled members.
    func takeBackSettled() {
        isLent = false
        current = settled
        isCompared = true
    }

    /// Compares the old part, unless that was done.
    ///
    /// - Returns: Whether the property gives the settled members.
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

    /// Takes the last member out.
    ///
    /// - Returns: False if it is not the last one; nothing is changed then.
    func removeLast(_ member: AnyObject) -> Bool {
        guard settled.last === member, isLent || current.last === member else { return false }
        settled.removeLast()
        if !isLent { current.removeLast() }
        known?.remove(ObjectIdentifier(member))
        return true
    }

    /// Takes a member out, wherever it stands.
    func remove(_ isWanted: (AnyObject) -> Bool) {
        settled.removeAll(where: isWanted)
        current.removeAll(where: isWanted)
        known = nil
    }

    /// Whether an object is a settled member.
    ///
    /// - Complexity: O(1), but for the first time.
    func contains(_ object: AnyObject) -> Bool {
        if known == nil { known = Set(settled.lazy.map { ObjectIdentifier($0) }) }
        return known?.contains(ObjectIdentifier(object)) == true
    }

    /// Whether the tail of an array from a place on is that of `settled`, and both are as long.
    func endsAlike(_ members: [AnyObject], from place: Int) -> Bool {
        guard members.count == settled.count else { return false }
        return (place..<members.count).allSatisfy { members[$0] === settled[$0] }
    }

    /// Whether so many members at the beginning of an array are those of `settled`.
    private func begins(_ members: [AnyObject], _ count: Int) -> Bool {
        comparedCount += count
        return members.withUnsafeBufferPointer { new in
            settled.withUnsafeBufferPointer { old in
                guard count > 0, let new = new.baseAddress, let old = old.baseAddress else { return count == 0 }
                // Safe because an element is one reference, and both have so many.
                return new == old || memcmp(new, old, count * MemoryLayout<AnyObject>.stride) == 0
            }
        }
    }

    // MARK: Types

    /// An array of members as one of their class.
    @inline(__always)
    static func typed<T: PersistentModel>(_ members: [AnyObject], as type: T.Type = T.self) -> [T] {
        assert(members.last.map { $0 is T } != false)
        // Safe because an element of any class is one reference, and each is a T: the slot's class is T.
        return unsafeBitCast(members, to: [T].self)
    }

    /// Takes an array of members out of a variable, without their class: its memory has no other owner for that.
    static func takeErased<T: PersistentModel>(_ members: inout [T]) -> [AnyObject] {
        var taken: [T] = []
        swap(&taken, &members)
        // Safe because an element of any class is one reference.
        return unsafeBitCast(taken, to: [AnyObject].self)
    }
}
