internal import Faultline
internal import FaultlineTestSupport

// New objects that have the name of a stored one.

extension GraphLife {
    /// Saves only a new object that has key and name of a stored one, under one of the policies.
    func insertTaken() throws {
        let kinds = [GraphKind.place(of: Badge.self), GraphKind.place(of: Node.self)]
        let named = world.committed.nodes.filter { kinds.contains($0.value.kind) && $0.value.name != nil }
        guard !session.context.hasChanges, let key = named.keys.sorted().randomElement(using: &random),
            let node = named[key], let stored = world.identifiers[key]
        else { return note("nothing") }
        let policy = random.pick(UniquenessPolicy.allCases)
        note("insert taken", "\(key) \(policy)")
        let new: any GraphObject = node.kind == kinds[0] ? Badge(key) : Node(key)
        let number = random.below(20)
        let photo: GraphState.Photo? = random.oneIn(2) ? nil : .init(count: 700, byte: UInt8(key & 0xFF))
        new.name = node.name
        new.number = number
        new.photo = photo?.bytes
        insert(new, policy)
        switch policy {
        case .update:
            if world.canary != .replacements { session.note([.number(key, number), .photo(key, photo)]) }
            guard try session.save() else { throw GraphViolation("\(key) was not replaced") }
        case .error: try refuse(new, stored)
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

    /// Checks that the save is refused with an error that names both objects.
    private func refuse(_ new: any GraphObject, _ stored: PersistentIdentifier) throws {
        do { try session.context.save() } catch let error as SwiftDataError where error == .modelValidationFailure {
            guard error.findings.map(\.rule) == [.unique], error.findings[0].object == new.persistentModelID,
                error.findings[0].conflictingObject == stored
            else { throw GraphViolation("the findings are \(error.findings)") }
            world.refusalCount += 1
            return
        }
        throw GraphViolation("two objects have the name of \(stored)")
    }
}
