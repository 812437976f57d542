internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// New objects that a migration stage has let go: each step of a save makes them again, one at a time.

extension Save {
    /// Reads the objects; nil if the context has let none go.
    var spillReader: SpillReader? { context.pending.spilled.map { SpillReader($0, of: context) } }

    /// Assigns numbers.
    mutating func resolveSpilled(
        _ reader: SpillReader, before position: Int? = nil, in transaction: inout Transaction
    ) throws {
        try reader.forEach(before: position) { object, core in
            guard let draft = core.pointee.draft else { return }
            let entity = object.entity
            var claimed: (id: RecordID, isTaken: Bool)
            if entity.uniqueIndexes.isEmpty {
                claimed = (try transaction.allocateIDs(1, in: entity.table), false)
            } else {
                do {
                    claimed = try writer.claim(draft, entity, in: &transaction)
                } catch let error as StoreError where error.conflict != nil {
                    return try note(error, core, entity)
                }
            }
            numbers.spilled.append(
                object.header.number, claimed.id, ordinal: entity.ordinal, isUpsert: claimed.isTaken)
        }
    }

    /// A reader of the objects if some of them may break a rule of their own; nil for none.
    var checkedSpilled: SpillReader? {
        guard let spilled = context.pending.spilled else { return nil }
        let mayBreak = context.homes.all.contains { home in
            context.pending.spilledCount(home) > 0
                && (home.type?.isDynamic == true || home.entity?.requiredSlots.isEmpty == false)
        }
        return mayBreak ? SpillReader(spilled, of: context) : nil
    }

    /// Checks the values.
    mutating func checkSpilled(_ reader: SpillReader, before position: Int? = nil) throws {
        try reader.forEach(before: position) { object, core in check(core, object.entity) }
    }

    /// Writes the rows.
    mutating func writeSpilled(
        _ reader: SpillReader, before position: Int? = nil, in transaction: inout Transaction
    ) throws {
        try reader.forEach(before: position) { object, core in
            let temporary = object.header.number
            let number = numbers.spilled.number(temporary)
            guard number != 0, let draft = core.pointee.draft else { return }
            for slot in object.entity.toOneSlots {
                let reference = ObjectReference(bits: draft.toOne(slot))
                if reference.isTemporary { draft.setToOne(slot, self.number(reference)) }
            }
            let isUpsert = !numbers.spilled.isInsert(temporary)
            try writeInsert(draft, core, number, isUpsert: isUpsert, object.entity, in: &transaction)
        }
    }

    /// Whether some of them were inserted after an object of the context's list.
    func isBeforeSpilled(_ position: Int) -> Bool {
        guard let spilled = context.pending.spilled else { return false }
        return spilled.countBefore(position) < spilled.count
    }

    /// How many were written, by name of the entity.
    var spilledCounts: [String: Int] {
        var counts: [String: Int] = [:]
        for home in context.homes.all {
            guard let ordinal = home.entity?.ordinal else { continue }
            let count = numbers.spilled.count(ordinal: ordinal)
            if count > 0 { counts[home.entityName] = count }
        }
        return counts
    }

    /// Lets the objects that were replaced show their new values, in the order in which the new ones were inserted.
    func showSpilledUpserts(_ watched: inout [ObjectObservation]) {
        for upsert in numbers.spilled.upserts {
            let home = context.homes[upsert.ordinal]
            guard let handle = ObjectRegistry(context).registeredHandle(upsert.number, home) else { continue }
            if let observation = handle.core.pointee.extraIfPresent?.observation { watched.append(observation) }
            if !handle.core.pointee.has(.changed) { handle.core.pointee.row = .none }
        }
    }
}
