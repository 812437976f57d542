internal import Faultline
internal import FaultlineTestSupport

// New objects that have the name of a stored one.

extension GraphLife {
    /// Saves only a new object that has key and name of a stored one, under one of the policies.
    func insertTaken() throws {
        let types: [any GraphObject.Type] = [Badge.self, Node.self, Asset.self, Machine.self, Crane.self]
        let kinds = types.map(GraphKind.place(of:))
        let named = world.committed.nodes.filter { kinds.contains($0.value.kind) && $0.value.name != nil }
        guard !session.context.hasChanges, let key = named.keys.sorted().randomElement(using: &random),
            let node = named[key], let stored = world.identifiers[key]
        else { return note("nothing") }
        let policy = random.pick(UniquenessPolicy.allCases)
        note("insert taken", "\(key) \(policy)")
        let new: any GraphObject =
            switch node.kind {
            case kinds[0]: Badge(key)
            case kinds[1]: Node(key)
            default: random.pick([Asset(key), Machine(key), Crane(key)] as [Asset])
            }
        let isOfClass = GraphKind.place(of: type(of: new)) == node.kind
        let number = random.below(20)
        let photo: GraphState.Photo? = random.oneIn(2) ? nil : .init(count: 700, byte: UInt8(key & 0xFF))
        new.name = node.name
        new.number = number
        new.photo = photo?.bytes
        insert(new, policy)
        // A property that the new object leaves unset becomes unset.
        let own = GraphKind.own[node.kind].enumerated().map { GraphState.Change.own(key, place: $0, $1) }
        let changes: [GraphState.Change] = [.number(key, number), .photo(key, photo), .mark(key, nil)] + own
        switch policy {
        case .update where !isOfClass: try refuse(new, stored, names: false)
        case .update:
            if world.canary != .replacements { session.note(changes) }
            guard try session.save() else { throw GraphViolation("\(key) was not replaced") }
        case .error: try refuse(new, stored, names: true)
        case .ignore:
            try session.context.save()
            guard new.modelContext == nil else { throw GraphViolation("the new object of \(key) is in the context") }
        }
        session.context.uniquenessConflicts = .update
        session.rollback()
        try session.compareAll()
    }

    /// Inserts an object under its own policy, or under that of the context.
    private func insert(_ new: any GraphObject, _ policy: UniquenessPolicy) {
        let isOfContext = random.oneIn(2)
        session.context.uniquenessConflicts = isOfContext ? policy : random.pick(UniquenessPolicy.allCases)
        func enter<T: GraphObject>(_ object: T) {
            if isOfContext {
                session.context.insert(object)
            } else {
                session.context.insert(object, onConflict: policy)
            }
        }
        enter(new)
    }

    /// Checks that the save is refused; with `names` by an error that names both objects.
    private func refuse(_ new: any GraphObject, _ stored: PersistentIdentifier, names: Bool) throws {
        do { try session.context.save() } catch let error as SwiftDataError where error == .modelValidationFailure {
            world.refusalCount += 1
            guard names else { return }
            guard error.findings.map(\.rule) == [.unique], error.findings[0].object == new.persistentModelID,
                error.findings[0].conflictingObject == stored
            else { throw GraphViolation("the findings are \(error.findings)") }
            return
        }
        throw GraphViolation("two objects have the name of \(stored)")
    }
}
