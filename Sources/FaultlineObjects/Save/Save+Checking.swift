internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// The rules of a save, checked in the writer's turn.

extension Save {
    /// Checks the denials of delete rules, and required references that they would clear.
    ///
    /// If another context has saved since the deletions were collected, they are collected again.
    mutating func checkDeletions(in transaction: borrowing Transaction) throws {
        guard deletion != nil else { return }
        // The contexts of one stage do not change each other's objects.
        if context.stage == nil, transaction.sequence - 1 != context.snapshot.sequence {
            take(nil)
            take(try DeletionWalk.ofNextSave(context, in: transaction))
        }
        guard let deletion else { return }
        findings.add(try deletion.findings(isMigrating: context.rules.defersRelationshipRules, in: transaction))
        guard !context.rules.defersRelationshipRules else { return }
        // Before the rows of the deleted objects are gone.
        var counted: [(owner: DeletionWalk.Subject, slot: Int)] = []
        try deletion.forEachCountedOwner(in: transaction) { counted.append(($0, $1)) }
        countedOwners = counted
    }

    /// Checks that references which were set lead to stored objects; objects that are deleted here are left to the
    /// delete rules.
    mutating func checkReferences(in transaction: borrowing Transaction) throws {
        // A stage relates objects before all of them are written, and checks references at its end.
        guard context.stage == nil else { return }
        var targets = StoredTargets()
        var gone: [(handle: ObjectHandle, slot: Int)] = []
        func check(_ handles: [ObjectHandle], _ isWanted: (Draft, Int) -> Bool) throws {
            try handles.forEachKept { position, core, entity in
                guard !entity.toOneSlots.isEmpty, let draft = core.pointee.draft else { return }
                for slot in entity.toOneSlots where isWanted(draft, slot) {
                    let target = ObjectReference(bits: draft.toOne(slot))
                    guard !target.isNil, !target.isTemporary, case .toOne(let relationship) = entity.slots[slot] else {
                        continue
                    }
                    let destination = context.store.storage.entities[relationship.destination]
                    if try targets.has(target.number, destination, in: transaction) { continue }
                    if deletion?.isDoomed(target, destination.ordinal) != true {
                        gone.append((handles[position], slot))
                    }
                }
            }
        }
        try check(context.pending.living) { _, _ in true }
        try check(context.pending.changed.array) { $0.isChanged($1) }
        for (handle, slot) in gone {
            // A changed object that is gone too is a finding of its own, without its references.
            if let entity = handle.core.pointee.home.takeUnretainedValue().entity, !handle.core.pointee.has(.temporary),
                try !targets.has(handle.core.pointee.number, entity, in: transaction)
            {
                continue
            }
            noteGone(handle, slot)
        }
    }

    private mutating func noteGone(_ handle: ObjectHandle, _ slot: Int) {
        guard let entity = handle.core.pointee.home.takeUnretainedValue().entity,
            case .toOne(let relationship) = entity.slots[slot], let draft = handle.core.pointee.draft
        else { return }
        guard context.pending.policies.danglingReferences == .refuse else { return replaced.clear(handle, slot) }
        let target = ObjectReference(bits: draft.toOne(slot))
        findings.add(
            goneTarget(handle.reference, entity, slot, target, store.storage.entities[relationship.destination]))
    }

    /// The finding for an object that was related to one that is not in the store.
    func goneTarget(
        _ owner: ObjectReference, _ entity: EntityStorage, _ slot: Int, _ target: ObjectReference,
        _ destination: EntityStorage
    ) -> ValidationFinding {
        let property = context.propertyName(slot, of: entity)
        return ValidationFinding(
            context.identifier(of: owner, entity), property, .missingObject,
            "\(entity.name).\(property): \(destination.name) \(target.number) is not in the store any more; set it to another object or to nil"
        )
    }

    // MARK: Objects

    /// Checks values, required references and the numbers of members, once it is known which objects are saved.
    mutating func checkObjects(in transaction: borrowing Transaction) throws {
        let reader = checkedSpilled
        try context.pending.living.forEachKept { position, core, entity in
            if let reader { try checkSpilled(reader, before: position) }
            check(core, entity)
        }
        if let reader { try checkSpilled(reader) }
        context.pending.changed.forEachKept { check($1, $2) }
        guard !context.rules.defersRelationshipRules, store.storage.hasBounds else { return }
        let walk = deletion ?? DeletionWalk(context)
        let unseen = try unseenLosers(in: transaction)
        findings.add(try MemberCountCheck(context).miscountedCollections(walk, countedOwners, unseen, in: transaction))
        try checkMergedCounts(in: transaction)
    }

    mutating func check(_ core: UnsafeMutablePointer<ModelCore>, _ entity: EntityStorage) {
        if core.pointee.has(.damaged) {
            findings.add(
                ValidationFinding(
                    context.identifier(of: core.pointee.reference, entity), nil, .damaged,
                    "\(entity.name) \(core.pointee.number): it was read with stand-in values"))
        }
        for missing in core.pointee.missingValues {
            findings.add(
                ValidationFinding(
                    context.identifier(of: core.pointee.reference, entity), missing.name, .required, missing.text))
        }
        guard !context.rules.defersRelationshipRules, !entity.requiredSlots.isEmpty, let draft = core.pointee.draft
        else {
            return
        }
        for slot in entity.requiredSlots {
            guard case .toOne(let relationship) = entity.slots[slot], entity.has(slot, draft) else { continue }
            let target = ObjectReference(bits: draft.toOne(slot))
            // An unsaved object that is deleted or left out gets no number.
            guard target.isNil || target.isTemporary && deletion?.isDoomed(target, relationship.destination) == true
            else { continue }
            findings.add(context.missingObject(core.pointee.reference, entity, slot))
        }
    }

    /// Finds changed objects that are gone, and unique values of changed objects that other objects have, if the save is
    /// refused anyway: otherwise writing the changes finds them.
    mutating func checkChanges(in transaction: inout Transaction) throws {
        var targets = StoredTargets()
        try context.pending.changed.forEachKept { _, core, entity in
            guard let draft = core.pointee.draft, !context.rules.sharedTables.contains(entity.table) else { return }
            guard try targets.has(core.pointee.number, entity, in: transaction) else {
                return noteDeletedElsewhere(core, entity)
            }
            guard !entity.uniqueIndexes.isEmpty, !hasKeys(core.pointee.number, entity) else { return }
            do throws(StoreError) {
                try writer.takeUpdatedKeys(draft, id: core.pointee.number, entity, in: &transaction)
            } catch {
                try note(error, core, entity)
            }
        }
    }

    // MARK: Findings of the row writer

    /// Turns the row writer's error about one object into a finding; throws any other error.
    mutating func note(
        _ error: StoreError, _ core: UnsafeMutablePointer<ModelCore>, _ entity: EntityStorage
    ) throws(StoreError) {
        switch error.code {
        case .duplicate: try noteDuplicate(error, core, entity)
        case .missing: noteDeletedElsewhere(core, entity)
        case .tooLarge: add(.tooLarge, core, entity, error.sentence)
        default: throw error
        }
        if refusal == nil { refusal = error.code }
    }

    /// Records that a changed object was deleted by another context.
    private mutating func noteDeletedElsewhere(_ core: UnsafeMutablePointer<ModelCore>, _ entity: EntityStorage) {
        if context.pending.policies.danglingReferences == .nullify, core.pointee.isChangedAsPartnerOnly(entity) {
            gonePartners.insert(core)
            return
        }
        add(
            .deletedElsewhere, core, entity,
            "\(entity.name) \(core.pointee.number) was changed here and deleted elsewhere: roll back the change, or insert the object anew"
        )
    }

    private mutating func noteDuplicate(
        _ error: StoreError, _ core: UnsafeMutablePointer<ModelCore>, _ entity: EntityStorage
    ) throws(StoreError) {
        guard let conflict = error.conflict else { throw error }
        noteDuplicate(conflict, core, entity)
    }

    /// Records that an object has the unique values of another one.
    mutating func noteDuplicate(
        _ conflict: StoreError.KeyConflict, _ core: UnsafeMutablePointer<ModelCore>, _ entity: EntityStorage
    ) {
        if refusal == nil { refusal = .duplicate }
        let names = conflict.slots.map { context.propertyName($0, of: entity) }
        let other = context.identifier(of: reference(ofSaved: conflict.holder, entity), entity)
        let isNew = other.isTemporary
        findings.add(
            ValidationFinding(
                context.identifier(of: core.pointee.reference, entity), names.first, .unique,
                "\(entity.name).\(names.joined(separator: ", ")): \(isNew ? "new object" : "object") \(other.number) has the same unique value; change one of them, or delete it",
                conflictingObject: other))
    }

    private mutating func add(
        _ rule: ValidationFinding.Rule, _ core: UnsafeMutablePointer<ModelCore>, _ entity: EntityStorage, _ text: String
    ) {
        findings.add(ValidationFinding(context.identifier(of: core.pointee.reference, entity), nil, rule, text))
    }

    /// The object of a number: a temporary reference if this save would have stored it.
    func reference(ofSaved number: RecordID, _ entity: EntityStorage) -> ObjectReference {
        for (position, handle) in context.pending.living.enumerated()
        where numbers[position] == number && !upserts.contains(position) {
            guard handle.core.pointee.home.takeUnretainedValue().entity === entity else { continue }
            return handle.reference
        }
        if let spilled = numbers.spilled.temporaryNumber(of: number, ordinal: entity.ordinal) {
            return ObjectReference(number: spilled, isTemporary: true)
        }
        return ObjectReference(number: number, isTemporary: false)
    }
}

extension ModelCore {
    /// Whether a changed object differs only in references that follow those of other objects.
    fileprivate func isChangedAsPartnerOnly(_ entity: EntityStorage) -> Bool {
        guard let draft else { return false }
        return entity.slots.enumerated().allSatisfy { slot, storage in
            guard draft.isChanged(slot) else { return true }
            guard case .toOne(let relationship) = storage else { return false }
            if case .none = relationship.inverse { return false }
            return true
        }
    }
}

extension StoreError {
    /// The message without its full stop.
    fileprivate var sentence: String { message.hasSuffix(".") ? String(message.dropLast()) : message }
}

/// Decides which numbers of an entity belong to stored objects; caches its result for one entity.
struct StoredTargets {
    private var ordinal = -1
    /// All numbers below are stored: none of them was ever deleted.
    private var end: RecordID = 0
    /// The number that was looked up last, if it is stored.
    private var last: RecordID = 0

    /// - Complexity: O(1) if no object of the entity was ever deleted; else a look-up in the location table for each
    ///   number that differs from the one before.
    @inline(__always)
    mutating func has(
        _ number: RecordID, _ entity: EntityStorage, in state: borrowing some StoredState & ~Copyable
    ) throws(LogError) -> Bool {
        if ordinal == entity.ordinal, number < end || number == last { return true }
        return try look(for: number, entity, in: state)
    }

    private mutating func look(
        for number: RecordID, _ entity: EntityStorage, in state: borrowing some StoredState & ~Copyable
    ) throws(LogError) -> Bool {
        if ordinal != entity.ordinal {
            let next = state.nextID(in: entity.table)
            ordinal = entity.ordinal
            end = UInt64(state.recordCount(of: entity.table)) == next - 1 ? next : 0
            last = 0
            if number < end { return true }
        }
        guard try !state.location(of: number, in: entity.table).isAbsent else { return false }
        last = number
        return true
    }
}
