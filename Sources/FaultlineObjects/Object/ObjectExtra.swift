internal import FaultlineLog

/// State that few objects need in addition to their core.
final class ObjectExtra {
    /// Targets of to-one relationships of a detached object.
    @exclusivity(unchecked) private(set) var targets = SlotMap<DetachedNode>()
    /// Members of to-many relationships of a detached object, by slot.
    @exclusivity(unchecked) var members: [Int: DetachedMembers] = [:]
    /// Whether some of them may have been changed in place and not compared since.
    @exclusivity(unchecked) var hasUncompared = false
    /// Large values that the object was given by reference.
    @exclusivity(unchecked) var givenValues = SlotMap<GivenValue>()
    /// Values that were set for ephemeral attributes, by slot.
    @exclusivity(unchecked) var ephemerals: [Int: Any] = [:]
    /// A change that could not be made while the object was in no context, with its slot: reported when the object is
    /// inserted, and forgotten when the slot is set again.
    @exclusivity(unchecked) var refusal: (error: any Error, slot: Int?)?
    /// Large values of an object whose deletion was saved, by blob.
    var lastBlobs: [UInt64: HeldBlob] = [:]
    /// The observers of the object's properties.
    @exclusivity(unchecked) var observation: ObjectObservation?
    /// The object that represents an alias's row.
    var canonical: ObjectHandle?
    /// The `ManagedObject` that shows this object by the names of its properties, while it is in use.
    weak var view: AnyObject?
    /// Whether the object was made by the name of its entity, and not saved: its class has given it no values.
    var isMadeByName = false
    /// Detached objects that refer to this detached one by a relationship without an inverse, once for each reference.
    @exclusivity(unchecked) private(set) var referrers: [DetachedNode] = []
    /// So many of them are listed when those that are gone are next dropped.
    @exclusivity(unchecked) private var nextClearing = 16
    /// The graph that the object was in, until its relationships are made in its context.
    @exclusivity(unchecked) var graph: DetachedGraph?

    /// Takes over all of another one.
    func takeOver(_ old: ObjectExtra) {
        swap(&targets, &old.targets)
        swap(&members, &old.members)
        swap(&hasUncompared, &old.hasUncompared)
        swap(&givenValues, &old.givenValues)
        swap(&ephemerals, &old.ephemerals)
        swap(&refusal, &old.refusal)
        swap(&observation, &old.observation)
        (view, isMadeByName) = (old.view, old.isMadeByName)
        swap(&referrers, &old.referrers)
        swap(&nextClearing, &old.nextClearing)
    }

    // MARK: Subclasses

    /// Moves all values from the slots of a class to those of a table.
    func move(to slots: [Int]) { move { $0 < slots.count ? slots[$0] : nil } }

    /// The way back.
    func move(from slots: [Int]) { move { slots.firstIndex(of: $0) } }

    private func move(_ place: (Int) -> Int?) {
        targets = targets.moved(place)
        givenValues = givenValues.moved(place)
        members = Dictionary(members.compactMap { slot, value in place(slot).map { ($0, value) } }) { first, _ in first
        }
        ephemerals = Dictionary(ephemerals.compactMap { slot, value in place(slot).map { ($0, value) } }) { first, _ in
            first
        }
        if let slot = refusal?.slot { refusal?.slot = place(slot) }
        // Observers name slots: they hear of a change, and observe anew.
        observation?.noteChangeOfAll()
        observation = nil
    }

    // MARK: Relationships in no context

    /// Makes members those of a slot.
    func setMembers(_ slot: Int, _ new: DetachedMembers, of owner: DetachedNode?) {
        guard let old = members.updateValue(new, forKey: slot) else { return }
        old.dropArray(of: owner)
        DetachedNode.leave(old.nodes)
    }

    /// Makes a node the target of a slot, or none.
    func setTarget(_ slot: Int, _ node: DetachedNode?) {
        node?.refer()
        let old = targets[slot]
        targets[slot] = node
        old?.leave()
    }

    func addReferrer(_ node: DetachedNode) {
        if referrers.count >= nextClearing {
            referrers.removeAll { $0.isOver }
            nextClearing = max(16, referrers.count * 2)
        }
        referrers.append(node)
    }

    /// Removes one reference of an object.
    func removeReferrer(_ node: DetachedNode?) {
        guard let position = referrers.firstIndex(where: { $0 === node }) else { return }
        referrers.remove(at: position)
    }

    func takeReferrers() -> [DetachedNode] {
        defer { referrers = [] }
        return referrers
    }

    /// Takes the arrays of members out, which retain them, with the nodes of the members; `DetachedMembers` keep those.
    func takeArrays() -> [(array: MemberArray, nodes: [DetachedNode])] {
        members.values.compactMap { members in members.takeArray().map { ($0, members.nodes) } }
    }

    /// Lets go of the arrays of at most so many members, which retain them.
    func dropArrays(of node: DetachedNode?, max: Int) {
        for members in members.values where members.nodes.count <= max { members.dropArray(of: node) }
    }

    /// Takes all relationships out; the caller lets go of the nodes.
    func takeNodes(of node: DetachedNode?) -> [DetachedNode] {
        var nodes: [DetachedNode] = []
        targets.forEach { nodes.append($1) }
        for members in members.values {
            members.dropArray(of: node)
            nodes += members.nodes
        }
        targets = SlotMap<DetachedNode>()
        members.removeAll()
        hasUncompared = false
        return nodes
    }

    /// Lets go of all relationships.
    func leaveNodes() {
        guard members.isEmpty, let only = targets.only else { return DetachedNode.leave(takeNodes(of: nil)) }
        targets = SlotMap<DetachedNode>()
        hasUncompared = false
        only.leave()
    }

    /// Takes an object out of what other detached objects hold, because its initializer failed.
    func leavePartners(_ node: DetachedNode) {
        var partners = members.values.flatMap(\.nodes)
        targets.forEach { partners.append($1) }
        for partner in partners.compactMap({ $0.object()?.core }) {
            partner.pointee.extraIfPresent?.forget(node, of: partner.pointee.node)
        }
    }

    private func forget(_ node: DetachedNode, of owner: DetachedNode?) {
        var slots: [Int] = []
        targets.forEach { if $1 === node { slots.append($0) } }
        for slot in slots { setTarget(slot, nil) }
        for members in members.values { members.remove(from: owner) { $0 === node } }
        referrers.removeAll { $0 === node }
    }
}
