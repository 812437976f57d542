/// A graph in plain values: the expected contents of a store, or the expected view of a context.
struct GraphState {
    /// One object; objects are identified by their keys.
    struct Node {
        let kind: Int
        var number = 0
        var name: String?
        /// The size of its photo in bytes, and the photo's variant; nil for none.
        var photo: Photo?
        /// The unique value of machines, which other assets may share; and the values that subclasses declare.
        var mark: Int?
        var own: [Int] = []
        /// The keys that each of its relationships refers to, by the index of the property.
        ///
        /// A to-one reference may refer to a deleted object.
        var slots: [Int: [Int]] = [:]
    }

    struct Photo: Equatable {
        let count: Int
        let byte: UInt8
    }

    /// The effect of one change on the graph, so that it can be applied to another state of it again.
    enum Change {
        case insert(Int, kind: Int)
        case number(Int, Int)
        case name(Int, String?)
        case photo(Int, Photo?)
        case mark(Int, Int?)
        /// One of the values that subclasses declare.
        case own(Int, place: Int, Int)
        /// A to-one reference, without its inverse.
        case refer(Int, property: Int, to: Int?)
        case join(Int, property: Int, member: Int)
        case leave(Int, property: Int, member: Int)
        case order(Int, property: Int, [Int])
        case delete(Int)
        case forget(Int)
    }

    var nodes: [Int: Node] = [:]
    /// Objects that the next save deletes.
    var deleted: Set<Int> = []
    /// Objects that were never saved.
    var unsaved: Set<Int> = []

    func isThere(_ key: Int) -> Bool { nodes[key] != nil && !deleted.contains(key) }

    /// All keys that a relationship contains, including hidden ones.
    func raw(_ key: Int, _ property: Int) -> [Int] { nodes[key]?.slots[property] ?? [] }

    /// The keys that a relationship shows.
    func shown(_ key: Int, _ property: Int) -> [Int] { raw(key, property).filter(isThere) }

    mutating func apply(_ change: Change) {
        switch change {
        case .insert(let key, let kind):
            nodes[key] = Node(kind: kind, own: GraphKind.own[kind])
            unsaved.insert(key)
        case .number(let key, let number): nodes[key]?.number = number
        case .name(let key, let name): nodes[key]?.name = name
        case .photo(let key, let photo): nodes[key]?.photo = photo
        case .mark(let key, let mark): nodes[key]?.mark = mark
        case .own(let key, let place, let value): nodes[key]?.own[place] = value
        case .refer(let key, let property, let target): nodes[key]?.slots[property] = target.map { [$0] } ?? []
        case .join(let key, let property, let member):
            guard !raw(key, property).contains(member) else { return }
            nodes[key]?.slots[property, default: []].append(member)
        case .leave(let key, let property, let member): nodes[key]?.slots[property]?.removeAll { $0 == member }
        case .order(let key, let property, let members):
            let old = raw(key, property)
            nodes[key]?.slots[property] = members.filter(old.contains) + old.filter { !members.contains($0) }
        case .delete(let key): deleted.insert(key)
        case .forget(let key):
            nodes[key] = nil
            deleted.remove(key)
            unsaved.remove(key)
            for (other, node) in nodes {
                for (property, members) in node.slots where members.contains(key) {
                    nodes[other]?.slots[property] = members.filter { $0 != key }
                }
            }
        }
    }

    // MARK: Changes through the public interface

    /// The changes that set a to-one reference, with its inverse.
    func setting(_ owner: Int, _ property: Int, to target: Int?, _ shape: GraphShape) -> [Change] {
        let old = raw(owner, property).first
        guard old != target else { return [] }
        var changes: [Change] = [.refer(owner, property: property, to: target)]
        guard let inverse = shape.inverses[property] else { return changes }
        let isToOne = shape.properties[inverse].isToOne
        if let old {
            changes.append(
                isToOne
                    ? .refer(old, property: inverse, to: nil) : .leave(old, property: inverse, member: owner))
        }
        guard let target else { return changes }
        if isToOne {
            if let rival = raw(target, inverse).first, rival != owner {
                changes.append(.refer(rival, property: property, to: nil))
            }
            changes.append(.refer(target, property: inverse, to: owner))
        } else {
            changes.append(.join(target, property: inverse, member: owner))
        }
        return changes
    }

    func joining(_ owner: Int, _ property: Int, _ member: Int, _ shape: GraphShape) -> [Change] {
        guard let inverse = shape.inverses[property] else { return [.join(owner, property: property, member: member)] }
        if shape.properties[inverse].isToOne { return setting(member, inverse, to: owner, shape) }
        return [
            .join(owner, property: property, member: member), .join(member, property: inverse, member: owner),
        ]
    }

    func leaving(_ owner: Int, _ property: Int, _ member: Int, _ shape: GraphShape) -> [Change] {
        guard let inverse = shape.inverses[property] else { return [.leave(owner, property: property, member: member)] }
        if shape.properties[inverse].isToOne { return setting(member, inverse, to: nil, shape) }
        return [
            .leave(owner, property: property, member: member), .leave(member, property: inverse, member: owner),
        ]
    }

    /// The changes that replace the members of a collection.
    func assigning(_ owner: Int, _ property: Int, _ members: [Int], _ shape: GraphShape) -> [Change] {
        let old = shown(owner, property)
        var changes: [Change] = []
        for member in old where !members.contains(member) { changes += leaving(owner, property, member, shape) }
        for member in members where !old.contains(member) { changes += joining(owner, property, member, shape) }
        return changes + [.order(owner, property: property, members)]
    }
}
