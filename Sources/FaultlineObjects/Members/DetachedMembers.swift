/// The members of a to-many relationship of an object in no context.
///
/// The nodes lead to the members and retain none of them. Beside them an array is kept, as the property gives it, which
/// does: so that `append`, `count` and a subscript cost what those of an array do. It goes with its owner, and where the
/// members' own arrays could lead back to the owner: then the members are collected anew when they are next asked for.
final class DetachedMembers {
    /// The members that the other sides of the relationship know.
    @exclusivity(unchecked) private(set) var nodes: [DetachedNode] = []
    /// Its settled members are those of the nodes; nil where they are not collected.
    @exclusivity(unchecked) private(set) var array: MemberArray?
    /// Whether the array has to go as soon as no change in place has it.
    @exclusivity(unchecked) private var isUnsafe = false

    /// Begins without members.
    init() { array = MemberArray([]) }

    var isLent: Bool { array?.isLent == true }

    // MARK: Reading

    /// The members that the property gives.
    ///
    /// - Parameter owner: The node of the relationship's owner; nil where the members are asked for once only.
    /// - Returns: The members in their order.
    /// - Complexity: O(1), where they are collected.
    func objects(of owner: DetachedNode?) -> [AnyObject] {
        if let array { return array.members }
        let members = settled
        if let owner, keepArray(members, of: owner), let array { return array.members }
        return members.map(\.object)
    }

    /// The settled members.
    var settled: [ObjectHandle] { nodes.compactMap { $0.object() } }

    /// Keeps the collected members, if that is safe.
    private func keepArray(_ members: [ObjectHandle], of owner: DetachedNode) -> Bool {
        guard members.count == nodes.count else { return false }
        var count = 0
        for (member, node) in zip(members, nodes) {
            makeSafe(member, node, of: owner)
            count += 1
            guard owner.hold(node) else {
                owner.letGo(of: Array(nodes[..<count]))
                return false
            }
        }
        array = MemberArray(members.map(\.object))
        return true
    }

    /// Lets go of a member's own arrays where they could lead back to the owner, if that costs no more than to go
    /// without this one.
    private func makeSafe(_ member: ObjectHandle, _ node: DetachedNode, of owner: DetachedNode) {
        if owner.mayReturn(from: node) { member.core.pointee.extraIfPresent?.dropArrays(of: node, max: nodes.count) }
    }

    /// Whether an object is a settled member.
    func contains(_ member: ObjectHandle, of owner: DetachedNode?) -> Bool {
        if array == nil, let owner { _ = keepArray(settled, of: owner) }
        return array?.contains(member.object) ?? nodes.contains { $0.leads(to: member) }
    }

    // MARK: Changing

    /// Adds a member at the end.
    func append(_ member: ObjectHandle, _ node: DetachedNode, to owner: DetachedNode) {
        node.refer()
        nodes.append(node)
        guard let array else { return }
        makeSafe(member, node, of: owner)
        array.append(member.object)
        if !owner.hold(node) { isUnsafe = true }
        settleArray(of: owner)
    }

    /// Takes a member out, wherever it stands.
    func remove(from owner: DetachedNode?, where isWanted: (DetachedNode) -> Bool) {
        let isLast = nodes.last.map(isWanted) == true
        guard let place = isLast ? nodes.count - 1 : nodes.firstIndex(where: isWanted) else { return }
        let node = nodes.remove(at: place)
        if let array {
            owner?.letGo(of: [node])
            if let object = node.object()?.object, !array.removeLast(object) { array.remove { $0 === object } }
        }
        node.leave()
    }

    /// Lends the members to a change in place.
    func lend(of owner: DetachedNode?) -> [AnyObject] {
        if array == nil {
            let members = settled
            guard let owner, keepArray(members, of: owner) else { return members.map(\.object) }
        }
        return array?.lend() ?? []
    }

    /// Lets go of an array that may not be kept, unless a change in place has it.
    func settleArray(of owner: DetachedNode?) {
        if isUnsafe { dropArray(of: owner) }
    }

    /// Lets go of the array, unless a change in place has it, or has left members that are not settled yet.
    func dropArray(of owner: DetachedNode?) {
        guard takeArray() != nil else { return }
        if let owner { owner.letGo(of: nodes) } else { nodes.forEach { $0.noteLetGo() } }
    }

    /// Takes the array out, under the same conditions; the caller notes that it retains the members no more.
    func takeArray() -> MemberArray? {
        guard let array, !array.isLent, array.compare() else { return nil }
        self.array = nil
        isUnsafe = false
        return array
    }
}
