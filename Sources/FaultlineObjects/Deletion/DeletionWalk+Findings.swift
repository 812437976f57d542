internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// Rules that forbid a deletion, and its effects on remaining objects.

extension DeletionWalk {
    /// Finds denials by delete rules, and required references that would be cleared.
    ///
    /// - Parameters:
    ///   - isMigrating: Whether required references are checked later.
    ///   - state: The state to read.
    /// - Returns: Each denial and each required reference, once.
    /// - Throws: The store's error if it cannot be read.
    func findings(
        isMigrating: Bool = false, in state: borrowing some StoredState & ~Copyable
    ) throws -> FindingList {
        var findings = FindingList()
        let concerned = rules.map { !$0.denying.isEmpty || !isMigrating && $0.clearing.contains { !$0.isOptional } }
        guard concerned.contains(true) else { return findings }
        try forEachDoomed { subject in
            guard concerned[subject.entity.ordinal] else { return }
            for slot in rules[subject.entity.ordinal].denying {
                let count = try remainingCount(inAny: slot, of: subject, in: state)
                if count > 0 { findings.add(denial(subject, slot, count)) }
            }
            for partner in rules[subject.entity.ordinal].clearing where !partner.isOptional && !isMigrating {
                try forEachRemaining(of: subject, partner, in: state) { member in
                    findings.add(missing(member, partner.destination, partner.inverse))
                }
            }
        }
        return findings
    }

    private func remainingCount(
        inAny slot: Int, of subject: Subject, in state: borrowing some StoredState & ~Copyable
    ) throws -> Int {
        guard case .toOne(let relationship) = subject.entity.slots[slot] else {
            return try remainingCount(of: subject, slot, in: state)
        }
        return try targets(of: subject, [slot], in: state).count { !isDoomed($0.target, relationship.destination) }
    }

    /// Calls `body` with the remaining objects that refer to a deleted one.
    func forEachRemaining(
        of subject: Subject, _ partner: DeletionRules.Partner, in state: borrowing some StoredState & ~Copyable,
        _ body: (ObjectReference) throws -> Void
    ) throws {
        guard partner.isToOne else {
            return try forEachMember(of: subject, partner.slot, in: state) {
                if !isDoomed($0, partner.destination) { try body($0) }
            }
        }
        for (_, target) in try targets(of: subject, [partner.slot], in: state)
        where !isDoomed(target, partner.destination) {
            try body(target)
        }
    }

    /// Calls `body` once with each collection that loses members and has a minimum or maximum number of them.
    func forEachCountedOwner(
        in state: borrowing some StoredState & ~Copyable, _ body: (Subject, _ slot: Int) throws -> Void
    ) throws {
        let entities = context.store.storage.entities
        guard context.store.storage.hasBounds else { return }
        var owners: [Int: [Int: NumberSet]] = [:]
        func add(_ owner: ObjectReference, _ ordinal: Int, _ slot: Int) {
            guard !owner.isTemporary, !isDoomed(owner, ordinal) else { return }
            owners[ordinal, default: [:]][slot, default: NumberSet()].insert(owner.number)
        }
        try forEachDoomed { subject in
            let counted = rules[subject.entity.ordinal].counted
            if !counted.isEmpty {
                let targets = try targets(of: subject, counted.map(\.slot), in: state)
                for (partner, target) in counted.flatMap({ partner in
                    targets.filter { $0.slot == partner.slot }.map { (partner, $0.target) }
                }) {
                    add(target, partner.destination, partner.inverse)
                }
            }
            guard !subject.reference.isTemporary else { return }
            for owner in entities {
                for slot in owner.boundedSlots {
                    guard case .toMany(let relationship) = owner.slots[slot],
                        relationship.destination == subject.entity.ordinal,
                        case .link(let side, _) = relationship.members
                    else { continue }
                    for number in try state.memberNumbers(of: subject.reference.number, in: side.otherIndex) {
                        let reference = ObjectReference(number: number, isTemporary: false)
                        if try isThere(reference, owner.ordinal, in: state) { add(reference, owner.ordinal, slot) }
                    }
                }
            }
        }
        for ordinal in owners.keys.sorted() {
            guard let slots = owners[ordinal] else { continue }
            for slot in slots.keys.sorted() { try slots[slot]?.forEach { try body(subject($0, ordinal), slot) } }
        }
        try forEachUnsavedCountedOwner(body)
    }

    /// The same for collections of unsaved objects.
    private func forEachUnsavedCountedOwner(_ body: (Subject, _ slot: Int) throws -> Void) throws {
        context.pending.bringBackMembers()
        for (key, delta) in context.pending.relationships.inOrder where key.owner.isTemporary {
            let entity = context.store.storage.entities[key.entity]
            guard entity.boundedSlots.contains(key.slot), !isDoomed(key.owner, key.entity),
                case .toMany(let relationship) = entity.slots[key.slot],
                delta.added.handles.contains(where: { isDoomed($0.reference, relationship.destination) }),
                let subject = context.pending.insertedObject(key.owner.number).flatMap(subject)
            else { continue }
            try body(subject, key.slot)
        }
    }

    // MARK: Messages

    private func denial(_ subject: Subject, _ slot: Int, _ count: Int) -> ValidationFinding {
        let property = context.propertyName(slot, of: subject.entity)
        return ValidationFinding(
            context.identifier(of: subject.reference, subject.entity), property, .deny,
            "\(subject.entity.name) \(subject.reference.number) cannot be deleted: its relationship \(property) denies it while it has \(count) objects; delete or move them first"
        )
    }

    private func missing(_ reference: ObjectReference, _ ordinal: Int, _ slot: Int) -> ValidationFinding {
        let entity = context.store.storage.entities[ordinal]
        return context.missingObject(reference, entity, slot)
    }
}

extension ContextCore {
    func propertyName(_ slot: Int, of entity: EntityStorage) -> String {
        store.storage.schema.entities[entity.ordinal].properties[slot].name
    }

    func identifier(of reference: ObjectReference, _ entity: EntityStorage) -> PersistentIdentifier {
        PersistentIdentifier(
            storeID: reference.isTemporary ? PersistentIdentifier.unsaved : store.log.storeID, entityName: entity.name,
            number: reference.number)
    }

    /// The finding for an object without a required object.
    func missingObject(_ reference: ObjectReference, _ entity: EntityStorage, _ slot: Int) -> ValidationFinding {
        let property = propertyName(slot, of: entity)
        return ValidationFinding(
            identifier(of: reference, entity), property, .required,
            "\(entity.name).\(property): a required object is missing")
    }
}
