internal import Faultline
internal import FaultlineTestSupport

// Lives of thousands of objects: more than a batch of rows, a page of members, and the number of objects that a context
// keeps.

extension GraphLife {
    /// The number of objects at the beginning of a large life.
    static let largeCount = 5_000
    /// The number of operations of a large life: the cost of each grows with the graph.
    static let largeOperationMax = 700

    /// Whether the seed's life is large.
    static func isLarge(_ seed: UInt64) -> Bool { seed % 50 == 11 }

    /// Makes thousands of objects, a few of which have thousands of members.
    func fill() throws {
        note("fill")
        var firms: [Int] = []
        var nodes: [Int] = []
        for number in 0..<Self.largeCount {
            let key = world.next()
            switch number % 5 {
            case _ where number < 4:
                firms.append(key)
                enter(Firm(key), key)
            case 0, 1:
                let person = Person(key)
                person.number = number % 20
                enter(person, key)
                session.note([.number(key, number % 20)])
                let firm = firms[number % 7 == 0 ? 1 + number % 3 : 0]
                try relate("Person.firm", key, firm)
            case 2:
                enter(Badge(key), key)
            default:
                let node = Node(key)
                node.name = "n\(key)"
                enter(node, key)
                session.note([.name(key, "n\(key)")])
                // A tree with at most six children per node.
                if nodes.count > 6 { try relate("Node.parent", key, nodes[(nodes.count - 1) / 6]) }
                nodes.append(key)
            }
            if number % 1_000 == 999, try !session.save() { throw GraphViolation("the graph was refused") }
        }
        try session.compareAll()
    }

    private func enter<T: GraphObject>(_ object: T, _ key: Int) {
        session.context.insert(object)
        session.hold(key, object)
        session.note([.insert(key, kind: GraphKind.place(of: T.self))])
    }

    private func relate(_ name: String, _ key: Int, _ target: Int) throws {
        let place = place(name)
        let changes = session.view.setting(key, place, to: target, world.shape)
        try world.shape.properties[place].write(session.object(key), [session.object(target)])
        session.note(changes)
    }
}
