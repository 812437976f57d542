internal import Faultline
internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore
internal import FaultlineTestSupport

/// A random life of one store: operations on objects, and the same operations on plain values.
final class GraphLife {
    /// The number of objects from which more objects are deleted than made.
    private var objectCountMax: Int { isLarge ? Self.largeCount * 2 : 36 }
    var isLarge: Bool { world.isLarge }

    let world: GraphWorld
    var random: Seed
    var session: GraphSession
    private var other: GraphSession?
    private(set) var operationCount = 0
    private(set) var kinds: [String: Int] = [:]
    private(set) var trace = OperationTrace()
    private var pace = InvariantPace()
    /// How many saves there were when the log was last checked.
    private var checkedVersion = 0

    init(seed: UInt64, canary: GraphCanary?) throws {
        world = try GraphWorld(seed: seed, canary: canary)
        random = Seed(seed)
        session = GraphSession(world)
    }

    func run(_ count: Int) throws {
        if isLarge { try fill() }
        while operationCount < count {
            world.isBreaking = operationCount > count / 8
            try step()
            try checkInvariants()
        }
        session.rollback()
        try reopen()
        try world.verify()
        try world.close()
    }

    /// Checks the invariants of the contexts, and those of the log after a save.
    private func checkInvariants() throws {
        guard pace.isDue(objectCount: session.view.nodes.count) else { return }
        try session.context.core.checkInvariants()
        try other?.context.core.checkInvariants()
        guard checkedVersion != world.version else { return }
        checkedVersion = world.version
        try world.container.rowStore.log.checkInvariants()
    }

    /// Reports whether a context that has read nothing agrees with the model; if so, the store is not at fault.
    var findingOfFreshContext: String {
        do { try GraphSession(world).compareAll() } catch { return "a fresh context says: \(error)" }
        return "a fresh context sees the saved state"
    }

    func note(_ kind: String, _ text: String = "") {
        operationCount += 1
        kinds[kind, default: 0] += 1
        trace.append(text.isEmpty ? kind : "\(kind) \(text)")
    }

    private func step() throws {
        switch random.below(100) {
        case 0..<60: try change(session)
        case 60..<70: try save()
        case 70..<73:
            note("rollback")
            session.rollback()
            try session.compare()
        case 73..<78:
            note("compare")
            try session.compare()
        case 78:
            note("compare all")
            try session.compareAll()
        case 79 where random.oneIn(3): try undo()
        case 79 where random.oneIn(3): try batch()
        case 79: try insertTaken()
        case 80..<86:
            note("ask")
            try session.ask(random.below(1_000))
        case 86..<88: try walk()
        case 88..<93:
            note("let go")
            session.letGo(&random)
        case 93..<97: try saveBeside()
        case 97:
            note("process")
            try session.processDeletions()
        case 98 where random.oneIn(4): try reopen()
        case 98 where random.oneIn(2): try die()
        case 98:
            note("new context")
            session = GraphSession(world)
            try session.compare()
        default:
            guard random.oneIn(8) else { return try change(session) }
            note("verify")
            try world.verify()
        }
    }

    private func save() throws {
        note("save")
        if try session.save() {
            try session.compare()
        } else {
            trace.append("refused")
            if random.oneIn(3) { try session.compare() }
            if random.oneIn(2) {
                note("rollback")
                session.rollback()
            }
        }
    }

    private func reopen() throws {
        note("reopen")
        try world.reopen()
        try beginAnew()
    }

    /// Continues with new contexts over a reopened store, which must contain the saved state.
    func beginAnew() throws {
        other = nil
        session = GraphSession(world)
        try session.compareAll()
    }

    /// Saves through another context, while the first may have changes.
    ///
    /// If both change a value, the first one's change is kept. Only one of them changes relationships.
    func saveBeside() throws {
        let beside = random.oneIn(2) ? other ?? GraphSession(world) : GraphSession(world)
        other = beside
        note("beside")
        try beside.ask(random.below(1_000))
        for _ in 0...random.below(4) { try change(beside) }
        let touched = session.touched
        guard case .graph(let result) = beside.view.saved(world.shape),
            !isDisturbing(result, touched)
        else {
            note("beside rollback")
            return beside.rollback()
        }
        note("beside save")
        guard try beside.save() else { throw GraphViolation("a save beside was refused") }
    }

    private func isDisturbing(_ result: GraphState, _ touched: GraphSession.Touched) -> Bool {
        let before = world.committed
        if touched.all.contains(where: { before.nodes[$0] != nil && result.nodes[$0] == nil }) { return true }
        return touched.related.union(touched.drafted).contains { key in
            guard let old = before.nodes[key], let new = result.nodes[key] else { return false }
            return session.differs(old, new)
        }
    }

    // MARK: Changes

    func change(_ session: GraphSession) throws {
        let there = session.view.nodes.keys.filter(session.view.isThere).sorted()
        guard there.count > 4 else { return try insert(session) }
        let isFull = there.count > objectCountMax
        switch random.below(66) {
        case 0..<10 where !isFull: try insert(session)
        case 0..<4: try delete(session, there)
        case 4..<12:
            let key = random.pick(there)
            let number = random.below(20)
            try make([.number(key, number)], in: session, "number", "\(key) \(number)") {
                try session.object(key).number = number
            }
        case 12..<16: try rename(session, there)
        case 16..<19: try setPhoto(session, there)
        case 19..<33: try setTarget(session, there)
        case 33..<44: try assign(session, there)
        case 44..<56: try changeOne(session, there)
        case 56: try takeBack(session, there)
        case 60..<65: try changeAsset(session, there)
        case 65 where random.oneIn(3): try deleteMachines(session)
        default: try delete(session, there)
        }
    }

    private func insert(_ session: GraphSession) throws {
        // A new object could take others away from objects that another context has changed.
        guard !session.isBehind else { return note("nothing") }
        let key = world.next()
        guard let (object, required) = try made(session, key) else { return note("nothing") }
        let kind = GraphKind.place(of: type(of: object))
        note("insert", "\(type(of: object)) \(key) \(required?.target ?? 0)")
        // Some objects are related before they are inserted.
        var related: (place: Int, members: [Int])?
        let place =
            object is Project ? self.place("Project.people") : world.shape.ofKind[kind].randomElement(using: &random)
        if let place, object is Project || random.oneIn(3), !world.shape.properties[place].isRequired {
            let members = Array(
                candidates(session, world.shape.properties[place].destination).shuffled(using: &random)
                    .prefix(world.shape.properties[place].isToOne ? 1 : 1 + random.below(3)))
            if session.allows([.order(key, property: place, members)]) { related = (place, members) }
        }
        func relate() throws {
            guard let related else { return }
            trace.append("\(world.shape.properties[related.place].name) \(related.members)")
            try world.shape.properties[related.place].write(object, related.members.map { try session.object($0) })
        }
        let isEarly = random.oneIn(2)
        if isEarly { try relate() }
        func enter<T: GraphObject>(_ object: T) { session.context.insert(object) }
        enter(object)
        if !isEarly { try relate() }
        session.hold(key, object)
        session.note([.insert(key, kind: kind)])
        if let required { note(session, required.name, key, required.target) }
        guard let related else { return }
        if world.shape.properties[related.place].isToOne {
            session.note(session.view.setting(key, related.place, to: related.members.first, world.shape))
        } else {
            session.note(session.view.assigning(key, related.place, related.members, world.shape))
        }
    }

    /// Makes an object of a random class, with its required relationship; nil if there is no object to relate it to.
    private func made(
        _ session: GraphSession, _ key: Int
    ) throws -> (object: any GraphObject, required: (name: String, target: Int)?)? {
        func any<T: GraphObject>(_ type: T.Type) throws -> (key: Int, object: T)? {
            guard let target = candidates(session, GraphKind.place(of: type)).randomElement(using: &random) else {
                return nil
            }
            guard let object = try session.object(target) as? T else { throw GraphViolation("\(target) is no \(type)") }
            return (target, object)
        }
        switch random.below(19) {
        case 14, 15: return (random.oneIn(2) ? Machine(key) : Asset(key), nil)
        case 16: return (Crane(key), nil)
        case 17, 18:
            return try any(Firm.self).map { (House(key, $0.object), ("House.firm", $0.key)) }
        case 0...1: return (Firm(key), nil)
        case 2...5: return (Person(key), nil)
        case 6:
            return try any(Firm.self).map { (Branch(key, $0.object), ("Branch.firm", $0.key)) }
        case 7:
            return try any(Badge.self).map { (Lease(key, $0.object), ("Lease.seal", $0.key)) }
        case 8:
            return try any(Person.self).map { (Tag(key, $0.object), ("Tag.owner", $0.key)) }
        case 9:
            return try any(Person.self).map { (Passport(key, $0.object), ("Passport.owner", $0.key)) }
        case 10: return (Badge(key), nil)
        case 11: return (Project(key), nil)
        default: return (Node(key), nil)
        }
    }

    private func note(_ session: GraphSession, _ name: String, _ key: Int, _ target: Int) {
        session.note(session.view.setting(key, place(name), to: target, world.shape))
    }

    func place(_ name: String) -> Int { world.shape.properties.firstIndex { $0.name == name } ?? -1 }

    private func candidates(_ session: GraphSession, _ kind: Int) -> [Int] {
        let covered = GraphKind.covers[kind]
        return session.view.nodes.filter { covered[$0.value.kind] && session.view.isThere($0.key) }.keys.filter {
            session.allows([.delete($0)])
        }.sorted()
    }

    /// Gives an object a new name, none, or in rare cases another object's name, which must be refused or released by
    /// then.
    private func rename(_ session: GraphSession, _ there: [Int]) throws {
        let key = random.pick(there)
        var name: String? = random.oneIn(5) ? nil : "n\(world.next())"
        if random.oneIn(4), !session.view.unsaved.contains(key) {
            // Two unsaved objects with one name are merged into one.
            let root = session.view.nodes[key].map { GraphKind.root(of: $0.kind) }
            let rival = session.view.nodes[random.pick(there)]
            if rival.map({ GraphKind.root(of: $0.kind) }) == root { name = rival?.name }
        }
        try make([.name(key, name)], in: session, "rename", "\(key) \(name ?? "nil")") {
            try session.object(key).name = name
        }
    }

    private func setPhoto(_ session: GraphSession, _ there: [Int]) throws {
        let key = random.pick(there)
        let photo: GraphState.Photo? =
            random.oneIn(4)
            ? nil : .init(count: random.pick([0, 10, 700, 5_000]), byte: UInt8(truncatingIfNeeded: random.next()))
        try make([.photo(key, photo)], in: session, "photo", "\(key) \(photo?.count ?? -1)") {
            if world.canary != .photos { try session.object(key).photo = photo?.bytes }
        }
    }

    private func setTarget(_ session: GraphSession, _ there: [Int]) throws {
        guard let (key, place) = relationship(session, there, { $0.isToOne }) else { return note("nothing") }
        let property = world.shape.properties[place]
        let targets = candidates(session, property.destination)
        let isClearing = !property.isRequired && random.oneIn(4)
        guard isClearing || !targets.isEmpty else { return note("nothing") }
        let target = isClearing ? nil : random.pick(targets)
        let changes = session.view.setting(key, place, to: target, world.shape)
        try make(changes, in: session, "set", "\(property.name) of \(key) to \(target ?? 0)") {
            try property.write(session.object(key), target.map { [try session.object($0)] } ?? [])
        }
    }

    private func relationship(
        _ session: GraphSession, _ there: [Int], _ isWanted: (GraphProperty) -> Bool
    ) -> (key: Int, place: Int)? {
        let key = random.pick(there)
        guard let kind = session.view.nodes[key]?.kind else { return nil }
        let places = world.shape.ofKind[kind].filter { isWanted(world.shape.properties[$0]) }
        return places.isEmpty ? nil : (key, random.pick(places))
    }

    private func assign(_ session: GraphSession, _ there: [Int]) throws {
        guard let (key, place) = relationship(session, there, { !$0.isToOne }) else { return note("nothing") }
        let property = world.shape.properties[place]
        let targets = candidates(session, property.destination)
        var members = session.view.shown(key, place)
        switch random.below(8) {
        case 0...2: if let new = targets.randomElement(using: &random) { members.append(new) }
        case 3:
            if let new = targets.randomElement(using: &random) {
                members.insert(new, at: random.below(members.count + 1))
            }
        case 4: if !members.isEmpty { members.remove(at: random.below(members.count)) }
        case 5: members.shuffle(using: &random)
        case 6:
            guard !members.isEmpty, let new = targets.randomElement(using: &random) else { break }
            members[random.below(members.count)] = new
        default: members = Array(targets.shuffled(using: &random).prefix(random.below(4)))
        }
        var seen: Set<Int> = []
        members = members.filter { seen.insert($0).inserted }
        let changes = session.view.assigning(key, place, members, world.shape)
        try make(changes, in: session, "assign", "\(property.name) of \(key) \(members)") {
            try property.write(session.object(key), members.map { try session.object($0) })
        }
    }

    /// Changes one member through `relationship(\.members)`.
    private func changeOne(_ session: GraphSession, _ there: [Int]) throws {
        guard let (key, place) = relationship(session, there, { !$0.isToOne }),
            let handle = world.shape.properties[place].handle
        else { return note("nothing") }
        let property = world.shape.properties[place]
        let shown = session.view.shown(key, place)
        let isRemoving = random.oneIn(2)
        let members =
            isRemoving && !shown.isEmpty && !random.oneIn(6) ? shown : candidates(session, property.destination)
        guard let member = members.randomElement(using: &random) else { return note("nothing") }
        let isChange = shown.contains(member) == isRemoving
        let changes =
            isRemoving
            ? session.view.leaving(key, place, member, world.shape)
            : session.view.joining(key, place, member, world.shape)
        let words = "\(member) of \(property.name) of \(key)"
        try make(isChange ? changes : [], in: session, isRemoving ? "remove" : "add", words) {
            let (owner, object) = (try session.object(key), try session.object(member))
            guard handle.contains(owner, object) == shown.contains(member) else {
                throw GraphViolation("contains says something else than \(shown)")
            }
            let isDone = isRemoving ? handle.remove(owner, object) : handle.insert(owner, object)
            guard isDone == isChange else { throw GraphViolation("was done: \(isDone)") }
        }
    }

    /// Makes a change both in the context and in the model.
    func make(
        _ changes: [GraphState.Change], in session: GraphSession, _ kind: String, _ words: String,
        _ body: () throws -> Void
    ) throws {
        guard session.allows(changes) else { return note("nothing") }
        note(kind, words)
        try body()
        session.note(changes)
    }

    private func delete(_ session: GraphSession, _ there: [Int]) throws {
        let key = random.pick(there)
        func remove<T: GraphObject>(_ object: T) { session.context.delete(object) }
        try make([.delete(key)], in: session, "delete", "\(key)") { remove(try session.object(key)) }
    }

    private func takeBack(_ session: GraphSession, _ there: [Int]) throws {
        let key = random.pick(there)
        note("delete and take back", "\(key)")
        func remove<T: GraphObject>(_ object: T) {
            session.context.delete(object)
            session.context.insert(object)
        }
        remove(try session.object(key))
    }
}
