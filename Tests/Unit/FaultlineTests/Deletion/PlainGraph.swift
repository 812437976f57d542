import Faultline

/// Objects and the edges of one relationship between them, in plain values, with the effect of the delete rules.
struct PlainGraph {
    /// A relationship with its inverse: the entity on each side, and how many objects it refers to.
    struct Shape {
        struct Side {
            let entity: String
            let property: String
            let isToOne: Bool
        }

        let left: Side
        let right: Side
        let nodes: [String]
        let edges: [Edge]
        /// Sets of objects to be deleted at once.
        let targets: [[String]]

        var isSelf: Bool { left.entity == right.entity }

        func entity(of node: String) -> String { node.hasPrefix("l") || isSelf ? left.entity : right.entity }
    }

    struct Edge: Hashable {
        let left: String
        let right: String
    }

    /// An object whose deletion is denied, and the property whose rule denies it.
    struct Denial: Hashable {
        let node: String
        let property: String
    }

    var nodes: Set<String>
    var edges: Set<Edge>

    init(_ shape: Shape) {
        nodes = Set(shape.nodes)
        edges = Set(shape.edges)
    }

    func rights(of node: String) -> Set<String> { Set(edges.filter { $0.left == node }.map(\.right)) }
    func lefts(of node: String) -> Set<String> { Set(edges.filter { $0.right == node }.map(\.left)) }

    /// All objects that are deleted along with the targets.
    func doomed(_ targets: [String], _ rules: DeleteRulePair) -> Set<String> {
        var doomed = Set(targets)
        while true {
            var more = doomed
            for node in doomed {
                if rules.left == .cascade { more.formUnion(rights(of: node)) }
                if rules.right == .cascade { more.formUnion(lefts(of: node)) }
            }
            if more == doomed { return doomed }
            doomed = more
        }
    }

    func denials(_ doomed: Set<String>, _ rules: DeleteRulePair, _ shape: Shape) -> Set<Denial> {
        var denials: Set<Denial> = []
        for node in doomed {
            if rules.left == .deny, !rights(of: node).subtracting(doomed).isEmpty {
                denials.insert(Denial(node: node, property: shape.left.property))
            }
            if rules.right == .deny, !lefts(of: node).subtracting(doomed).isEmpty {
                denials.insert(Denial(node: node, property: shape.right.property))
            }
        }
        return denials
    }

    /// The number of references that still contain the number of a deleted object, without showing it.
    func danglingCount(_ doomed: Set<String>, _ rules: DeleteRulePair, _ shape: Shape) -> Int {
        edges.count { edge in
            switch (doomed.contains(edge.left), doomed.contains(edge.right)) {
            case (true, false): shape.right.isToOne && rules.left == .noAction
            // The collection on the one side is derived from the numbers on the many side.
            case (false, true): shape.left.isToOne && shape.right.isToOne && rules.right == .noAction
            default: false
            }
        }
    }

    mutating func remove(_ doomed: Set<String>) {
        nodes.subtract(doomed)
        edges = edges.filter { !doomed.contains($0.left) && !doomed.contains($0.right) }
    }
}

/// The delete rules of a relationship and of its inverse.
struct DeleteRulePair: CustomStringConvertible, Sendable {
    let left: Schema.Relationship.DeleteRule
    let right: Schema.Relationship.DeleteRule

    var description: String { "\(left) and \(right)" }

    static var all: [DeleteRulePair] {
        let rules: [Schema.Relationship.DeleteRule] = [.nullify, .cascade, .deny, .noAction]
        return rules.flatMap { left in rules.map { DeleteRulePair(left: left, right: $0) } }
    }
}

extension PlainGraph.Shape {
    private init(
        _ left: (String, String, Bool), _ right: (String, String, Bool), _ nodes: String, _ edges: String,
        _ targets: [String]
    ) {
        self.left = Side(entity: left.0, property: left.1, isToOne: left.2)
        self.right = Side(entity: right.0, property: right.1, isToOne: right.2)
        self.nodes = nodes.split(separator: " ").map(String.init)
        self.edges = edges.split(separator: " ").map { edge in
            let ends = edge.split(separator: ">").map(String.init)
            return PlainGraph.Edge(left: ends[0], right: ends[1])
        }
        self.targets = targets.map { $0.split(separator: " ").map(String.init) }
    }

    /// Every kind of relationship that has an inverse.
    static let all = [
        Self(
            ("Husband", "wife", true), ("Wife", "husband", true), "l1 l2 l3 r1 r2 r3", "l1>r1 l2>r2",
            ["l1", "r1", "l3", "l1 l2", "l1 r1", "l1 r2"]),
        Self(
            ("Owner", "pets", false), ("Pet", "owner", true), "l1 l2 r1 r2 r3 r4", "l1>r1 l1>r2 l2>r3",
            ["l1", "r1", "r4", "l1 l2", "l1 r1", "l1 r1 r2", "r1 r3"]),
        Self(
            ("Course", "students", false), ("Student", "courses", false), "l1 l2 l3 r1 r2 r3", "l1>r1 l1>r2 l2>r2",
            ["l1", "r1", "r2", "l3", "l1 l2", "l1 r2", "r1 r2"]),
        Self(
            ("Chain", "next", true), ("Chain", "previous", true), "n1 n2 n3 n4 n5", "n1>n2 n2>n3 n4>n4",
            ["n1", "n2", "n3", "n4", "n5", "n1 n3"]),
        Self(
            ("Tree", "children", false), ("Tree", "parent", true), "n1 n2 n3 n4 n5", "n1>n2 n1>n3 n2>n4",
            ["n1", "n2", "n4", "n5", "n2 n3", "n1 n4"]),
        Self(
            ("Web", "ahead", false), ("Web", "behind", false), "n1 n2 n3 n4 n5", "n1>n2 n1>n3 n2>n3 n3>n1 n4>n4",
            ["n1", "n3", "n4", "n5", "n1 n2"]),
    ]

    /// The entities of all shapes under two rules, with their own names.
    static func schema(_ rules: DeleteRulePair) -> Schema {
        var entities: [Schema.Entity] = []
        for shape in all {
            let left = Schema.Relationship(
                name: shape.left.property, destination: shape.right.entity, isToOne: shape.left.isToOne,
                deleteRule: rules.left, inverseName: shape.right.property)
            let right = Schema.Relationship(
                name: shape.right.property, destination: shape.left.entity, isToOne: shape.right.isToOne,
                deleteRule: rules.right, inverseName: shape.left.property)
            if shape.isSelf {
                entities.append(entity(shape.left.entity, [left, right]))
            } else {
                entities += [entity(shape.left.entity, [left]), entity(shape.right.entity, [right])]
            }
        }
        return Schema(entities: entities, version: Schema.Version(1, 0, 0))
    }

    private static func entity(_ name: String, _ relationships: [Schema.Relationship]) -> Schema.Entity {
        let attributes: [any SchemaProperty] = [
            Schema.Attribute(name: "name", valueType: String.self),
            Schema.Attribute(name: "note", valueType: Int?.self),
        ]
        return Schema.Entity(name, subentities: [], properties: attributes + relationships)
    }
}
