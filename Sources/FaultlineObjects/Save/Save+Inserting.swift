internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// Assigns the numbers of inserted objects: new ones, or those of the stored objects that they replace.

extension Save {
    /// Whether a new object has replaced a changed one, so that the keys of the combined values are entered.
    func hasKeys(_ number: RecordID, _ entity: EntityStorage) -> Bool {
        !keyHolders.isEmpty && keyHolders[KeyOwner(entity: entity.ordinal, number: number)] != nil
    }

    /// Assigns a number to every inserted object: a new one, or that of the stored object that it replaces.
    mutating func resolveInserts(in transaction: inout Transaction) throws {
        numbers.begin(context.pending.living.count)
        // Objects whose unique keys refer to other new objects: those get their numbers first.
        var waiting: [Int] = []
        let hasSharedTables = !context.rules.sharedTables.isEmpty
        let reader = spillReader
        try context.pending.living.forEachKept { position, core, entity in
            guard core.pointee.draft != nil else { return }
            if let reader { try resolveSpilled(reader, before: position, in: &transaction) }
            // Asking the rules copies them, for each object.
            if hasSharedTables {
                try context.rules.checkUnshared(entity.table, "an object of \(entity.name)", "inserted")
            }
            if entity.uniqueIndexes.isEmpty || !entity.uniqueKeysNameObjects {
                _ = try resolveInsert(position, core, entity, in: &transaction)
            } else {
                waiting.append(position)
            }
        }
        if let reader { try resolveSpilled(reader, in: &transaction) }
        while !waiting.isEmpty || !losing.again.isEmpty {
            let round = losing.again.union(waiting).sorted()
            losing.again.removeAll()
            waiting.removeAll()
            for position in round {
                let core = context.pending.living[position].core
                guard !core.pointee.has(.deleted), numbers[position] == 0,
                    let entity = core.pointee.home.takeUnretainedValue().entity
                else { continue }
                guard !entity.uniqueKeysNameObjects || resolve(core, entity, isLast: false),
                    try resolveInsert(position, core, entity, in: &transaction)
                else {
                    waiting.append(position)
                    continue
                }
            }
            if waiting.count == round.count, losing.again.isEmpty {
                try resolveRing(waiting, in: &transaction)
                waiting.removeAll()
            }
        }
        noteRefusedInserts()
    }

    /// Assigns numbers to objects whose unique keys refer to each other: none of them can be stored already under a key
    /// that refers to the others.
    private mutating func resolveRing(_ positions: [Int], in transaction: inout Transaction) throws {
        for position in positions {
            guard let entity = context.pending.living[position].core.pointee.home.takeUnretainedValue().entity else {
                continue
            }
            numbers[position] =
                try chosenNumber(position, entity, in: &transaction) ?? transaction.allocateIDs(1, in: entity.table)
        }
        for position in positions {
            let core = context.pending.living[position].core
            guard let entity = core.pointee.home.takeUnretainedValue().entity else { continue }
            resolve(core, entity, isLast: true)
            guard let draft = core.pointee.draft else { continue }
            do throws(StoreError) {
                try writer.takeKeys(draft, id: numbers[position], entity, in: &transaction)
            } catch {
                try note(error, core, entity)
            }
        }
    }

    /// The number that an undo restores, or that a migration or a data store has given; nil for an object that gets a new
    /// one.
    private func chosenNumber(
        _ position: Int, _ entity: EntityStorage, in transaction: inout Transaction
    ) throws -> RecordID? {
        guard !context.rules.chosenNumbers.isEmpty,
            let chosen = context.rules.chosenNumbers[context.pending.living[position].core.pointee.number]
        else { return nil }
        if context.rules.restoresObjects { try checkIsAbsent(chosen, entity, in: transaction) }
        if context.rules.allocatesChosenNumbers { try allocate(chosen, entity, in: &transaction) }
        return chosen
    }

    /// Allocates a number that a data store has given, so that no new object gets it.
    private func allocate(_ chosen: RecordID, _ entity: EntityStorage, in transaction: inout Transaction) throws {
        guard try transaction.location(of: chosen, in: entity.table).isAbsent else {
            throw SwiftDataError.modelValidationFailure.explained(
                "Two objects of \(entity.name) have one identifier of the data store. Give each another one.")
        }
        try transaction.allocateIDs(through: chosen, in: entity.table)
    }

    /// - Returns: False if the replaced object will refer to a new object without a number yet.
    private mutating func resolveInsert(
        _ position: Int, _ core: UnsafeMutablePointer<ModelCore>, _ entity: EntityStorage,
        in transaction: inout Transaction
    ) throws -> Bool {
        guard let draft = core.pointee.draft else { return true }
        if let chosen = try chosenNumber(position, entity, in: &transaction) {
            if context.rules.restoresObjects { try checkKeysAreFree(chosen, draft, entity, in: transaction) }
            if let holder = try writer.holder(of: draft, entity, in: transaction) {
                throw StoreError(
                    .duplicate,
                    "Objects \(holder) and \(chosen) of \(entity.name) would have the same unique values. Use output.upsert, or drop one of them."
                )
            }
            try writer.enterKeys(draft, id: chosen, entity, in: &transaction)
            numbers[position] = chosen
            noteKeys(of: position, chosen, entity)
            return true
        }
        if context.rules.refusesUpserts, let holder = try writer.holder(of: draft, entity, in: transaction) {
            throw StoreError(
                .duplicate,
                "A new \(entity.name) would have the same unique values as object \(holder). Make one object of both (in a streamed stage by output.upsert), or change one of them."
            )
        }
        guard !entity.uniqueIndexes.isEmpty else {
            numbers[position] = try transaction.allocateIDs(1, in: entity.table)
            return true
        }
        let policy = context.uniquenessPolicy(of: core.pointee.number)
        if policy != .update, try meetsConflict(position, entity, policy, in: &transaction) { return true }
        do {
            return try claim(position, draft, entity, in: &transaction)
        } catch let error as StoreError where error.conflict != nil {
            try note(error, core, entity)
            return true
        }
    }

    /// Refuses to restore a deleted object whose unique values another object has.
    private mutating func checkKeysAreFree(
        _ number: RecordID, _ draft: Draft, _ entity: EntityStorage, in transaction: borrowing Transaction
    ) throws {
        guard let holder = try writer.holder(of: draft, entity, in: transaction) else { return }
        throw SwiftDataError.modelValidationFailure.explained(
            "\(entity.name) \(number), which an undo restores, has the unique values that \(entity.name) \(holder) has by now. Change one of them, or roll back."
        )
    }

    /// Refuses to restore a deleted object that is there again.
    private func checkIsAbsent(
        _ number: RecordID, _ entity: EntityStorage, in transaction: borrowing Transaction
    ) throws {
        guard try transaction.location(of: number, in: entity.table).isAbsent else {
            throw SwiftDataError.modelValidationFailure.explained(
                "\(entity.name) \(number), which an undo restores, is there again: another save has restored it. Roll back."
            )
        }
        store.log.noteRestoring(in: transaction)
    }

    /// Assigns a new number to an inserted object, or that of the stored object with its unique values.
    ///
    /// - Returns: False if the replaced object will refer to a new object without a number yet.
    private mutating func claim(
        _ position: Int, _ draft: Draft, _ entity: EntityStorage, in transaction: inout Transaction
    ) throws -> Bool {
        if entity.uniqueIndexes.count == 1 {
            let (number, isTaken) = try writer.claim(draft, entity, in: &transaction)
            numbers[position] = number
            if isTaken { upserts.insert(position) }
            return true
        }
        guard let holder = try writer.holder(of: draft, entity, in: transaction) else {
            let number = try transaction.allocateIDs(1, in: entity.table)
            numbers[position] = number
            try writer.enterKeys(draft, id: number, entity, in: &transaction)
            noteKeys(of: position, number, entity)
            return true
        }
        // The keys of all constraints come from the values that the object will have: relationships that the new one
        // does not set stay.
        let owner = KeyOwner(entity: entity.ordinal, number: holder)
        guard let kept = try keptTargets(draft, holder, entity, in: transaction) else { return false }
        numbers[position] = holder
        upserts.insert(position)
        if let earlier = keyHolders[owner], let draft = context.pending.living[earlier.position].core.pointee.draft {
            try draft.withTargets(earlier.kept) { try writer.removeKeys($0, id: holder, entity, in: &transaction) }
        } else {
            try writer.releaseKeys(id: holder, entity, in: &transaction)
        }
        try draft.withTargets(kept) { try writer.takeKeys($0, id: holder, entity, in: &transaction) }
        keyHolders[owner] = KeyHolder(position: position, kept: kept)
        return true
    }

    /// Notes that a new object has the keys under a number, until its row is written.
    private mutating func noteKeys(of position: Int, _ number: RecordID, _ entity: EntityStorage) {
        guard entity.uniqueIndexes.count > 1 else { return }
        keyHolders[.init(entity: entity.ordinal, number: number)] = KeyHolder(position: position)
    }

    /// Targets in unique slots that a new object does not set, and so keeps from the object that it replaces; nil if
    /// one of them has no number yet.
    private mutating func keptTargets(
        _ draft: Draft, _ number: RecordID, _ entity: EntityStorage, in transaction: borrowing Transaction
    ) throws -> [KeptTarget]? {
        let slots = entity.toOneSlots.filter { entity.uniqueSlots.contains($0) && draft.toOne($0) == 0 }
        guard !slots.isEmpty else { return [] }
        var known: [Int: RecordID] = [:]
        let earlier = keyHolders[.init(entity: entity.ordinal, number: number)]
        if let earlier, let draft = context.pending.living[earlier.position].core.pointee.draft {
            for slot in slots { known[slot] = draft.toOne(slot) }
            for target in earlier.kept { known[target.slot] = target.number }
        } else {
            let home = context.homes[entity.ordinal]
            let twin = ObjectRegistry(context).registeredHandle(number, home)
            if let twin, twin.core.pointee.has(.changed), let draft = twin.core.pointee.draft {
                for slot in slots where draft.isChanged(slot) {
                    let reference = ObjectReference(bits: draft.toOne(slot))
                    let target = self.number(reference)
                    if reference.isTemporary, target == 0 { return nil }
                    known[slot] = target
                }
            }
            let stored = try writer.targets(of: number, entity, slots, in: transaction)
            for (slot, target) in zip(slots, stored) where known[slot] == nil { known[slot] = target }
        }
        return slots.compactMap { slot in
            known[slot].flatMap { $0 == 0 ? nil : KeptTarget(slot: slot, number: $0) }
        }
    }
}

extension Draft {
    /// Calls `body` while nil to-one slots have targets.
    func withTargets(_ targets: [Save.KeptTarget], _ body: (Draft) throws -> Void) rethrows {
        for target in targets { setToOne(target.slot, target.number) }
        defer { for target in targets { setToOne(target.slot, 0) } }
        try body(self)
    }

    /// The draft of an object that replaces a stored one, marked so that relationships it does not set keep their
    /// stored values.
    ///
    /// Slots of other classes and the marks of classes keep theirs too.
    func withUpsertMarks(_ entity: EntityStorage) -> Draft {
        clearMarks()
        let ofObject = entity.hierarchy?.class(of: self)
        for (slot, storage) in entity.slots.enumerated() where ofObject?.has(slot) ?? true {
            switch storage {
            case .toOne where toOne(slot) == 0, .toMany: break
            default: mark(slot)
            }
        }
        return self
    }
}
