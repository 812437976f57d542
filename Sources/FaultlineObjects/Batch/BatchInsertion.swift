internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// A batch insertion in its transaction: writes one row after the other, and holds none.
///
/// It treats a row as a save treats a new object.
final class BatchInsertion {
    private let context: ContextCore
    private let entity: EntityStorage
    private let values: BatchValues
    private var findings = FindingList()
    private(set) var count = 0
    private(set) var upsertCount = 0
    private(set) var ignoredCount = 0
    private let policy: UniquenessPolicy
    /// The first number for new rows: smaller ones belong to stored objects.
    private var firstNew: RecordID = 0
    /// Collects the changes for the store's history; nil outside of the transaction, and if there is no history.
    private var history: HistoryWriter?
    /// How many members bounded collections gain, by the slot of the members and the owner's number.
    private var gains: [Int: [RecordID: Int]] = [:]
    /// Owners of collections whose members have changed, by the slot of the members; for the history.
    private var owners: [Int: NumberSet] = [:]

    init(_ context: ContextCore, _ entity: EntityStorage, _ values: BatchValues, _ policy: UniquenessPolicy) {
        self.policy = policy
        self.context = context
        self.entity = entity
        self.values = values
    }

    /// Writes rows as long as `fill` fills one.
    ///
    /// - Throws: `modelValidationFailure` for all rows that break a rule, when all are known; the errors of `fill`.
    func run(in transaction: inout Transaction, _ fill: (BatchValues) throws -> Bool) throws {
        try context.rules.checkUnshared(entity.table, "objects of \(entity.name)", "inserted")
        history = context.history.begin(context.store, in: transaction)
        defer { history = nil }
        firstNew = transaction.nextID(in: entity.table)
        var writer = RowWriter(context.store, keepingBlobsBelow: context.stage?.firstOwnBlob ?? 0)
        var cancellation = CancellationPoint()
        while true {
            try cancellation.pass()
            values.begin()
            guard try fill(values) else { break }
            if let failure = values.failure { throw failure }
            try check(transaction)
            // After the first finding, the remaining rows are checked and not written.
            if findings.isEmpty { try write(&writer, &transaction) } else { try checkKeys(&writer, &transaction) }
            count += 1
        }
        if findings.isEmpty { try checkCounts(transaction) }
        guard findings.isEmpty else { throw SwiftDataError.refused(findings) }
        if let history { try noteOwners(history, &transaction) }
        try history?.end(in: &transaction)
        try LeftBehind.leave(writer.keptBlobs, in: &transaction)
    }

    // MARK: Rules

    private func note(
        _ rule: ValidationFinding.Rule, _ slot: Int, _ what: String, conflictingObject: PersistentIdentifier? = nil
    ) {
        let name = values.type.properties[slot].name
        findings.add(
            ValidationFinding(
                PersistentIdentifier(
                    storeID: PersistentIdentifier.unsaved, entityName: entity.name, number: UInt64(count) + 1), name,
                rule,
                "row \(count + 1) of the batch, \(entity.name).\(name): \(what)",
                conflictingObject: conflictingObject))
    }

    private func note(_ conflict: StoreError.KeyConflict) {
        let holder = ObjectReference(number: conflict.holder, isTemporary: false)
        let isStored = conflict.holder < firstNew
        note(
            .unique, conflict.slots[0],
            "\(isStored ? "object \(conflict.holder)" : "an earlier row") has the same unique value",
            conflictingObject: isStored ? context.identifier(of: holder, entity) : nil)
    }

    /// Finds unique values of a row that other objects have, once the batch is refused.
    private func checkKeys(_ writer: inout RowWriter, _ transaction: inout Transaction) throws {
        guard policy == .error, !entity.uniqueIndexes.isEmpty else { return }
        let conflicts = try writer.holders(of: values.draft, entity, in: transaction)
        conflicts.forEach(note)
        guard conflicts.isEmpty else { return }
        let number = try transaction.allocateIDs(1, in: entity.table)
        try writer.enterKeys(values.draft, id: number, entity, in: &transaction)
    }

    private func check(_ transaction: borrowing Transaction) throws {
        values.forEachMissing { note(.required, $0, "a required value is missing") }
        for slot in entity.toOneSlots {
            let target = values.draft.toOne(slot)
            guard target != 0, case .toOne(let relationship) = entity.slots[slot] else { continue }
            let table = context.store.storage.entities[relationship.destination].table
            guard try transaction.location(of: target, in: table).isAbsent else { continue }
            guard context.pending.policies.danglingReferences == .nullify else {
                note(.missingObject, slot, "object \(target) is not in the store")
                continue
            }
            values.draft.setToOne(slot, 0)
            if entity.requiredSlots.contains(slot) { note(.required, slot, "a required object is missing") }
        }
    }

    /// Counts the members of collections that gained or lost some.
    private func checkCounts(_ transaction: borrowing Transaction) throws {
        for (slot, owners) in gains {
            guard case .toOne(let relationship) = entity.slots[slot], case .toMany(let inverse) = relationship.inverse
            else { continue }
            let owning = context.store.storage.entities[relationship.destination]
            guard case .toMany(let members) = owning.slots[inverse] else { continue }
            for (owner, gain) in owners {
                // The number of members before this transaction.
                let stored = try MemberReader(context).storedMembers(of: owner, in: members.members.index, transaction)
                    .count
                let reference = ObjectReference(number: owner, isTemporary: false)
                if let finding = MemberCountCheck(context).finding(reference, owning, inverse, stored + gain) {
                    findings.add(finding)
                }
            }
        }
    }

    // MARK: Writing

    private func write(_ writer: inout RowWriter, _ transaction: inout Transaction) throws {
        let draft = values.draft
        guard let (number, isTaken) = try claimOrRefuse(draft, &writer, &transaction) else { return }
        if isTaken, let conflict = try writer.conflictOfClasses(draft, with: number, entity, in: transaction) {
            return note(conflict)
        }
        let before = isTaken ? try writer.targets(of: number, entity, entity.toOneSlots, in: transaction) : []
        if isTaken {
            upsertCount += 1
            let marked = draft.withUpsertMarks(entity)
            try writer.update(marked, id: number, base: 0, hasEnteredKeys: true, entity, in: &transaction)
            try history?.noteUpdate(number, mask: marked.changedMask, entity, in: &transaction)
        } else {
            // No object refers to a new one.
            for slot in entity.boundedSlots where entity.has(slot, draft) {
                let reference = ObjectReference(number: UInt64(count) + 1, isTemporary: true)
                if let finding = MemberCountCheck(context).finding(reference, entity, slot, 0) { findings.add(finding) }
            }
            try writer.insert(draft, id: number, entity, in: &transaction)
            if let history { try history.noteInsert(number, entity, in: &transaction) }
        }
        for (place, slot) in entity.toOneSlots.enumerated() {
            guard case .toOne(let relationship) = entity.slots[slot] else { continue }
            let (old, new) = (isTaken ? before[place] : 0, draft.toOne(slot))
            guard new != 0, new != old else { continue }
            switch relationship.inverse {
            case .none: break
            case .toMany(let inverse):
                noteGain(slot, relationship, inverse, from: old, to: new)
                guard history != nil else { break }
                for owner in [old, new] where owner != 0 { owners[slot, default: NumberSet()].insert(owner) }
            case .toOne(let inverse):
                try join(number, slot, relationship, inverse, from: old, to: new, &writer, &transaction)
            }
        }
    }

    /// The number of a row, by the policy; nil for a row that is not written.
    private func claimOrRefuse(
        _ draft: Draft, _ writer: inout RowWriter, _ transaction: inout Transaction
    ) throws -> (number: RecordID, isTaken: Bool)? {
        if policy != .update, !entity.uniqueIndexes.isEmpty {
            let conflicts = try writer.holders(of: draft, entity, in: transaction)
            guard conflicts.isEmpty else {
                if policy == .ignore { ignoredCount += 1 } else { conflicts.forEach(note) }
                return nil
            }
        }
        do {
            return try claim(draft, &writer, &transaction)
        } catch let error as StoreError {
            guard let conflict = error.conflict else { throw error }
            note(conflict)
            return nil
        }
    }

    /// The number of a new row, or of the stored object that it replaces; enters its unique keys.
    private func claim(
        _ draft: Draft, _ writer: inout RowWriter, _ transaction: inout Transaction
    ) throws -> (number: RecordID, isTaken: Bool) {
        guard entity.uniqueIndexes.count > 1, let holder = try writer.holder(of: draft, entity, in: transaction) else {
            let claimed = try writer.claim(draft, entity, in: &transaction)
            return (claimed.id, claimed.isTaken)
        }
        // The keys come from the values that the object will have: relationships that the row does not set stay.
        let kept = entity.toOneSlots.filter { entity.uniqueSlots.contains($0) && draft.toOne($0) == 0 }
        let targets = kept.isEmpty ? [] : try writer.targets(of: holder, entity, kept, in: transaction)
        for (slot, target) in zip(kept, targets) where target != 0 { draft.setToOne(slot, target) }
        try writer.releaseKeys(id: holder, entity, in: &transaction)
        try writer.takeKeys(draft, id: holder, entity, in: &transaction)
        return (holder, true)
    }

    private func noteGain(
        _ slot: Int, _ relationship: ToOneStorage, _ inverse: Int, from old: RecordID, to new: RecordID
    ) {
        guard context.store.storage.entities[relationship.destination].boundedSlots.contains(inverse) else { return }
        gains[slot, default: [:]][new, default: 0] += 1
        if old != 0 { gains[slot, default: [:]][old, default: 0] -= 1 }
    }

    /// Points the inverse side at the new object, and clears the previous owner's reference.
    private func join(
        _ number: RecordID, _ slot: Int, _ relationship: ToOneStorage, _ inverse: Int, from old: RecordID,
        to new: RecordID, _ writer: inout RowWriter, _ transaction: inout Transaction
    ) throws {
        let destination = context.store.storage.entities[relationship.destination]
        try context.rules.checkUnshared(destination.table, "an object of \(destination.name)", "changed")
        func part(_ id: RecordID, _ owner: EntityStorage, _ slot: Int, from target: RecordID) throws {
            guard case .toOne(let side) = owner.slots[slot], side.isOptional else {
                findings.add(context.missingObject(ObjectReference(number: id, isTemporary: false), owner, slot))
                return
            }
            _ = try writer.clear(slot, leadingTo: target, id: id, owner, in: &transaction)
            try history?.noteUpdate(id, mask: SlotMask.bit(slot), owner, in: &transaction)
        }
        if old != 0 { try part(old, destination, inverse, from: number) }
        guard new != number || destination !== entity else { return }
        let rival = try writer.targets(of: new, destination, [inverse], in: transaction)[0]
        if rival == number { return }
        if rival != 0 { try part(rival, entity, slot, from: new) }
        let base = ModelCore.base(try transaction.location(of: new, in: destination.table))
        let partner = try writer.draft(of: new, destination, in: transaction)
        defer { partner.destroy() }
        partner.setToOne(inverse, number)
        partner.setOrderKey(inverse, nil)
        try writer.releaseKeys(of: partner, id: new, destination, in: &transaction)
        try writer.update(partner, id: new, base: base, destination, in: &transaction)
        try history?.noteUpdate(new, mask: SlotMask.bit(inverse), destination, in: &transaction)
    }

    /// Records the owners of collections whose members have changed, each once: their rows are unchanged.
    private func noteOwners(_ history: HistoryWriter, _ transaction: inout Transaction) throws {
        for (slot, numbers) in owners.sorted(by: { $0.key < $1.key }) {
            guard case .toOne(let relationship) = entity.slots[slot], case .toMany(let inverse) = relationship.inverse
            else { continue }
            let owning = context.store.storage.entities[relationship.destination]
            try numbers.forEach { number in
                try history.noteUpdate(number, mask: SlotMask.bit(inverse), owning, in: &transaction)
            }
        }
    }
}
