internal import Faultline
internal import FaultlineTestSupport
internal import Foundation

/// One context with what it should show: the state of the store that it reads, and the changes over it.
final class GraphSession {
    let world: GraphWorld
    var context: ModelContext
    /// How many saves the store had seen then.
    private var version: Int
    /// What the store had when the context was last moved on.
    private(set) var base: GraphState
    /// Changes that are not saved.
    private(set) var pending: [GraphState.Change] = []
    /// What the context should show: the base with the changes.
    private(set) var view: GraphState
    /// Whether others have saved something under the changes, so that nobody says how members of both stand.
    private(set) var isMerged = false
    /// Objects that somebody holds; the others are made anew when they are asked for.
    private var held: [Int: any GraphObject] = [:]
    /// Identifiers of objects that are in the store, or were when they were last seen.
    private var identifiers: [Int: PersistentIdentifier] = [:]
    /// Of a large graph one object of so many is compared each time, other ones the next time.
    private static let sampleStep = 40
    private var comparisonCount = 0
    /// Objects that the newest changes concern, which are compared each time.
    private var recent: Set<Int> = []

    init(_ world: GraphWorld) {
        self.world = world
        context = ModelContext(world.container)
        version = world.version
        base = world.committed
        view = base
        identifiers = world.identifiers
    }

    var shape: GraphShape { world.shape }

    // MARK: The model

    func note(_ changes: [GraphState.Change]) {
        let changes = world.canary == .inverses ? Array(changes.prefix(1)) : changes
        for change in changes { view.apply(change) }
        pending += changes
    }

    /// What a fetch does, and a save that deletes.
    func moveToNewest() {
        for (key, identifier) in world.identifiers { identifiers[key] = identifier }
        guard world.version != version else { return }
        version = world.version
        base = world.canary == .others ? base : world.committed
        var newest = base
        for change in pending { newest.apply(change) }
        // An object with changes shows what it was when the first of them was made; what others have given it comes
        // with the save, property by property.
        for key in touched.drafted {
            guard let shown = view.nodes[key], var node = newest.nodes[key] else { continue }
            (node.number, node.name, node.photo) = (shown.number, shown.name, shown.photo)
            newest.nodes[key] = node
        }
        view = newest
        isMerged = isMerged || !pending.isEmpty
    }

    /// Objects that unsaved changes concern.
    struct Touched {
        var all: Set<Int> = []
        /// Whose relationships are changed.
        var related: Set<Int> = []
        /// Whose own values or references are.
        var drafted: Set<Int> = []
    }

    var touched: Touched {
        var touched = Touched()
        for change in pending {
            switch change {
            case .insert(let key, _), .forget(let key): touched.related.insert(key)
            case .number(let key, _), .name(let key, _), .photo(let key, _): touched.drafted.insert(key)
            case .delete(let key): touched.all.insert(key)
            case .refer(let key, _, let target):
                touched.drafted.insert(key)
                touched.related.formUnion([key] + (target.map { [$0] } ?? []))
            case .join(let key, _, let member), .leave(let key, _, let member):
                touched.related.formUnion([key, member])
            case .order(let key, _, let members): touched.related.formUnion([key] + members)
            }
        }
        touched.all.formUnion(touched.related)
        touched.all.formUnion(touched.drafted)
        return touched
    }

    /// Whether others have saved something that the context has not seen.
    var isBehind: Bool { version != world.version }

    /// Whether changes can be made here: not of objects which others have deleted, or related to others, since the
    /// context was last moved on.
    func allows(_ changes: [GraphState.Change]) -> Bool {
        if version == world.version { return true }
        func isAsSeen(_ key: Int) -> Bool {
            guard let old = base.nodes[key] else { return true }
            return world.committed.nodes[key].map { !differs(old, $0) } ?? false
        }
        return changes.allSatisfy { change in
            switch change {
            case .insert, .forget: true
            case .number(let key, _), .name(let key, _), .photo(let key, _), .delete(let key): isAsSeen(key)
            case .refer(let key, _, let target): isAsSeen(key) && target.map(isAsSeen) ?? true
            case .join(let key, _, let member), .leave(let key, _, let member): isAsSeen(key) && isAsSeen(member)
            case .order(let key, _, let members): isAsSeen(key) && members.allSatisfy(isAsSeen)
            }
        }
    }

    /// Whether an object's relationships are others by now, or its photo, which is read when it is asked for.
    func differs(_ left: GraphState.Node, _ right: GraphState.Node) -> Bool {
        left.photo != right.photo
            || shape.ofKind[left.kind].contains { (left.slots[$0] ?? []) != (right.slots[$0] ?? []) }
    }

    // MARK: Samples

    /// Begins a comparison.
    func chooseCompared() {
        comparisonCount += 1
        if world.isLarge, !pending.isEmpty { recent = touched.all }
    }

    /// Whether an object is compared this time: all are, but in a large graph.
    func isCompared(_ key: Int) -> Bool {
        !world.isLarge || (key + comparisonCount) % Self.sampleStep == 0 || recent.contains(key)
    }

    // MARK: Objects

    /// The object of a key: one that is held, or a fault.
    func object(_ key: Int) throws -> any GraphObject {
        if let object = held[key] { return object }
        guard let identifier = identifiers[key], let object = context.model(for: identifier) as? any GraphObject else {
            throw GraphViolation("object \(key) cannot be asked for")
        }
        return object
    }

    func hold(_ key: Int, _ object: any GraphObject) { held[key] = object }

    /// Lets go of most objects: those without changes are faults when they are next asked for.
    func letGo(_ random: inout Seed) {
        for key in held.keys.sorted() where !view.unsaved.contains(key) && !random.oneIn(4) { held[key] = nil }
    }

    // MARK: Ends of changes

    /// Saves; what must be refused must be.
    ///
    /// - Returns: Whether it was saved.
    func save() throws -> Bool {
        guard context.hasChanges else {
            // What was taken in and sent away again leaves nothing.
            guard view.unsaved.isEmpty, view.deleted.isEmpty else { throw GraphViolation("hasChanges is false") }
            try context.save()
            (pending, view, isMerged) = ([], base, false)
            return true
        }
        // A deletion is decided by what the store has now.
        if !view.deleted.isEmpty { moveToNewest() }
        var newest = self.newest
        switch newest.saved(shape, world.canary) {
        case .refused(let reason):
            do { try context.save() } catch let error as SwiftDataError where error == .modelValidationFailure {
                world.refusalCount += 1
                return false
            }
            throw GraphViolation("was saved, but \(reason)")
        case .graph(let result):
            newest = result
        }
        if world.canary == .saves, world.isBreaking { context.rollback() } else { try context.save() }
        let isMerged = isMerged || world.version != version
        let unsaved = view.unsaved
        let touched = touched.all
        if world.isLarge { recent = touched }
        pending = []
        world.version += 1
        version = world.version
        base = newest
        view = newest
        for key in unsaved where newest.nodes[key] != nil {
            guard let object = held[key] else { throw GraphViolation("object \(key) is held by nobody") }
            world.identifiers[key] = object.persistentModelID
        }
        identifiers = world.identifiers
        held = held.filter { newest.nodes[$0.key] != nil }
        self.isMerged = isMerged
        world.committed = newest
        if isMerged { try learnOrders(touched) }
        self.isMerged = false
        return true
    }

    /// The graph as a save would find it.
    private var newest: GraphState {
        var newest = world.committed
        for change in pending { newest.apply(change) }
        return newest
    }

    func rollback() {
        if world.canary != .rollbacks || !world.isBreaking { context.rollback() }
        forgetPending()
    }

    /// Lays all changes over the newest state.
    func rebase() {
        var newest = base
        for change in pending { newest.apply(change) }
        view = newest
    }

    /// The context has dropped all changes.
    func forgetPending() {
        let unsaved = view.unsaved
        pending = []
        view = base
        isMerged = false
        held = held.filter { !unsaved.contains($0.key) }
    }

    /// Carries delete rules out before a save, where nothing denies them, and where they change nothing that others
    /// have related anew.
    func processDeletions() throws {
        let doomed = view.doomed(shape)
        guard !doomed.isEmpty, case .graph = view.saved(shape) else { return }
        var changes: [GraphState.Change] = []
        for key in doomed.subtracting(view.deleted).sorted() { changes.append(.delete(key)) }
        for key in doomed.sorted() {
            guard let node = view.nodes[key] else { continue }
            for property in shape.ofKind[node.kind] {
                guard let inverse = shape.inverses[property] else { continue }
                let clears = shape.properties[property].rule == .nullify || !shape.properties[inverse].isToOne
                guard clears || view.unsaved.contains(key) else { continue }
                for target in view.raw(key, property) where view.nodes[target] != nil && !doomed.contains(target) {
                    changes.append(
                        shape.properties[inverse].isToOne
                            ? .refer(target, property: inverse, to: nil)
                            : .leave(target, property: inverse, member: key))
                }
            }
        }
        let forgotten = doomed.intersection(view.unsaved).sorted()
        changes += forgotten.map { .forget($0) }
        guard allows(changes) else { return }
        context.processPendingChanges()
        for key in forgotten { held[key] = nil }
        note(changes)
    }

    /// Takes the order of members from the store, where two contexts have changed them: after all else was compared.
    private func learnOrders(_ touched: Set<Int>) throws {
        try compare()
        for key in view.nodes.keys.sorted() where !world.isLarge || touched.contains(key) {
            guard let node = view.nodes[key] else { continue }
            let object = try object(key)
            for property in shape.ofKind[node.kind] where !shape.properties[property].isToOne {
                let members = shape.properties[property].read(object).map(\.key)
                world.committed.apply(.order(key, property: property, members))
            }
        }
        base = world.committed
        view = base
    }
}

/// The store did not show what it should.
package struct GraphViolation: Error, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}
