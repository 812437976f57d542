internal import Faultline
internal import FaultlineTestSupport
internal import Foundation

/// One context with its expected view: the state of the store that it reads, with its changes applied.
final class GraphSession {
    let world: GraphWorld
    var context: ModelContext
    /// The number of the store's saves when the context was last moved on.
    private var version: Int
    /// The store's state when the context was last moved on.
    private(set) var base: GraphState
    /// Changes that are not saved.
    private(set) var pending: [GraphState.Change] = []
    /// The view that the context should show: the base with the changes.
    private(set) var view: GraphState
    /// Whether others have saved changes to the same collections, so that the order of their members is undetermined.
    private(set) var isMerged = false
    /// Objects that are held; others are made again when they are requested.
    private var held: [Int: any GraphObject] = [:]
    /// Identifiers of objects that are in the store, or were when they were last read.
    private var identifiers: [Int: PersistentIdentifier] = [:]
    /// In a large graph, each comparison covers one of this many objects, different ones each time.
    private static let sampleStep = 40
    private var comparisonCount = 0
    /// Objects affected by the newest changes, which are compared each time.
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

    /// Updates the view as a fetch does, and as a save that deletes does.
    func moveToNewest() {
        for (key, identifier) in world.identifiers { identifiers[key] = identifier }
        guard world.version != version else { return }
        version = world.version
        base = world.canary == .others ? base : world.committed
        var newest = base
        for change in pending { newest.apply(change) }
        // An object with changes shows its state at the first change; other contexts' changes are merged into it by the
        // save, property by property.
        for key in touched.drafted {
            guard let shown = view.nodes[key], var node = newest.nodes[key] else { continue }
            (node.number, node.name, node.photo) = (shown.number, shown.name, shown.photo)
            (node.mark, node.own) = (shown.mark, shown.own)
            newest.nodes[key] = node
        }
        view = newest
        isMerged = isMerged || !pending.isEmpty
    }

    /// The objects affected by unsaved changes.
    struct Touched {
        var all: Set<Int> = []
        /// Objects whose relationships are changed.
        var related: Set<Int> = []
        /// Objects whose own values or references are changed.
        var drafted: Set<Int> = []
    }

    var touched: Touched {
        var touched = Touched()
        for change in pending {
            switch change {
            case .insert(let key, _), .forget(let key): touched.related.insert(key)
            case .number(let key, _), .name(let key, _), .photo(let key, _), .mark(let key, _), .own(let key, _, _):
                touched.drafted.insert(key)
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

    /// Whether others have saved changes that the context has not read.
    var isBehind: Bool { version != world.version }

    /// Whether the changes can be made here: others must not have deleted their objects, or changed their relationships
    /// or photos, since the context was last moved on.
    func allows(_ changes: [GraphState.Change]) -> Bool {
        if version == world.version { return true }
        func isAsSeen(_ key: Int) -> Bool {
            guard let old = base.nodes[key] else { return true }
            return world.committed.nodes[key].map { !differs(old, $0) } ?? false
        }
        return changes.allSatisfy { change in
            switch change {
            case .insert, .forget: true
            case .number(let key, _), .name(let key, _), .photo(let key, _), .mark(let key, _), .own(let key, _, _),
                .delete(let key):
                isAsSeen(key)
            case .refer(let key, _, let target): isAsSeen(key) && target.map(isAsSeen) ?? true
            case .join(let key, _, let member), .leave(let key, _, let member): isAsSeen(key) && isAsSeen(member)
            case .order(let key, _, let members): isAsSeen(key) && members.allSatisfy(isAsSeen)
            }
        }
    }

    /// Whether an object's relationships have changed, or its photo, which is read only on access.
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

    /// Whether an object is compared this time: always, except in a large graph.
    func isCompared(_ key: Int) -> Bool {
        !world.isLarge || (key + comparisonCount) % Self.sampleStep == 0 || recent.contains(key)
    }

    // MARK: Objects

    /// The object of a key: the held one, or a fault.
    func object(_ key: Int) throws -> any GraphObject {
        if let object = held[key] { return object }
        guard let identifier = identifiers[key], let object = context.model(for: identifier) as? any GraphObject else {
            throw GraphViolation("object \(key) cannot be asked for")
        }
        return object
    }

    func hold(_ key: Int, _ object: any GraphObject) { held[key] = object }

    /// Releases most objects: those without changes are faults on the next access.
    func letGo(_ random: inout Seed) {
        for key in held.keys.sorted() where !view.unsaved.contains(key) && !random.oneIn(4) { held[key] = nil }
    }

    // MARK: Ends of changes

    /// Saves, and checks that invalid changes are refused.
    ///
    /// - Returns: Whether the changes were saved.
    func save() throws -> Bool {
        guard context.hasChanges else {
            // A change that was reverted leaves no trace.
            guard view.unsaved.isEmpty, view.deleted.isEmpty else { throw GraphViolation("hasChanges is false") }
            try context.save()
            (pending, view, isMerged) = ([], base, false)
            return true
        }
        // Deletions depend on the newest state of the store.
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
            guard let object = held[key] else { throw GraphViolation("object \(key) is not held") }
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

    /// The graph in which a save would find the store.
    private var newest: GraphState {
        var newest = world.committed
        for change in pending { newest.apply(change) }
        return newest
    }

    func rollback() {
        if world.canary != .rollbacks || !world.isBreaking { context.rollback() }
        forgetPending()
    }

    /// Continues after a batch has changed the store: this context, which has no changes, shows the result.
    func adopt(_ result: GraphState) {
        world.version += 1
        world.committed = result
        moveToNewest()
        held = held.filter { result.nodes[$0.key] != nil }
    }

    /// Continues with these changes instead of the pending ones.
    func take(_ changes: [GraphState.Change]) {
        pending = changes
        rebase()
    }

    /// Applies all changes to the newest state again.
    func rebase() {
        var newest = base
        for change in pending { newest.apply(change) }
        view = newest
    }

    /// Forgets all changes, because the context has dropped them.
    func forgetPending() {
        let unsaved = view.unsaved
        pending = []
        view = base
        isMerged = false
        held = held.filter { !unsaved.contains($0.key) }
    }

    /// Applies delete rules before a save, unless a rule denies it, or others have changed the objects concerned.
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

    /// Reads the order of members from the store if two contexts have changed it, after everything else was compared.
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

/// A difference between the store and the model.
package struct GraphViolation: Error, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}
