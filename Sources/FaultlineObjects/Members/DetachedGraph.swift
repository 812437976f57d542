internal import FaultlineLog

/// The detached objects that relationships connect: a graph, which goes with the last of its objects that is alive.
///
/// Each living object retains the graph; the graph owns the nodes of all, and so the states of those that are gone, and
/// retains no object. So a circle of relationships keeps nothing alive once the program holds none of its objects.
///
/// Two graphs become one when a relationship connects them; none is ever split. The list of nodes belongs to the thread
/// that uses the objects; the last release may come from any.
final class DetachedGraph {
    @exclusivity(unchecked) private var nodes: [DetachedNode] = []
    /// So many nodes are listed when those without an object are next dropped.
    @exclusivity(unchecked) private var nextClearing = 32

    deinit { for node in nodes { node.end() } }

    /// Takes an object in that is in no graph.
    @discardableResult
    private func add(_ object: ObjectHandle) -> DetachedNode {
        if nodes.count >= nextClearing {
            nodes.removeAll { $0.isOver }
            nextClearing = max(32, nodes.count * 2)
        }
        let node = DetachedNode(object, in: self)
        nodes.append(node)
        return node
    }

    /// Puts two detached objects into one graph.
    private static func connect(_ one: ObjectHandle, _ other: ObjectHandle) {
        switch (one.core.pointee.node, other.core.pointee.node) {
        case (nil, nil):
            let graph = DetachedGraph()
            graph.add(one)
            if other.core != one.core { graph.add(other) }
        case (let node?, nil): node.graph?.add(other)
        case (nil, let node?): node.graph?.add(one)
        case (let node?, let partner?):
            guard let graph = node.graph, let other = partner.graph, graph !== other else { return }
            join(graph, other)
        }
    }

    /// Makes two graphs one: the nodes of the smaller one move, so that a node moves seldom.
    private static func join(_ one: DetachedGraph, _ other: DetachedGraph) {
        let (small, large) = one.nodes.count < other.nodes.count ? (one, other) : (other, one)
        for node in small.nodes where !node.isOver {
            node.move(to: large)
            large.nodes.append(node)
        }
        small.nodes = []
    }

    /// The node by which a detached object refers to another one, after both are in one graph.
    ///
    /// - Parameters:
    ///   - partner: An object; one in a context is in no graph, and retained for as long as it is referred to.
    ///   - own: A detached object.
    /// - Returns: The node of the partner.
    static func node(of partner: ObjectHandle, besides own: ObjectHandle) -> DetachedNode {
        if partner.core.pointee.has(.attached) {
            connect(own, own)
            return DetachedNode(attached: partner)
        }
        connect(own, partner)
        guard let node = partner.core.pointee.node else { return DetachedNode(attached: partner) }
        return node
    }
}
