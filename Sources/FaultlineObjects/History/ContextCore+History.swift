internal import FaultlineLog
internal import FaultlineStore
internal import Foundation

extension ContextCore {
    /// Makes sure that the store says it has a history, before the turn to write.
    func prepareHistory() throws {
        if recordsHistory { try store.noteHistory() }
    }

    /// Begins to collect what the transaction changes, if that is to be in the history.
    @inline(__always)
    func beginHistory(in transaction: borrowing Transaction) {
        guard recordsHistory else { return }
        historyWriter.begin(author: author, in: transaction)
        history = historyWriter
    }

    /// Notes the owners of collections that have changed: their rows are as before.
    func noteCollections(
        _ history: HistoryWriter, _ saving: inout SavingState, _ transaction: inout Transaction
    ) throws {
        guard !relationships.isEmpty else { return }
        for (key, delta) in relationships.inOrder where !delta.isEmpty {
            // A new object is told as such, unless it has taken the place of a stored one.
            guard !key.owner.isTemporary || !saving.upserts.isEmpty,
                deletion?.isDoomed(key.owner, key.entity) != true
            else { continue }
            try noteCollection(
                saving.number(key.owner, inserted), key.slot, store.storage.entities[key.entity], history, &transaction)
        }
    }

    /// Notes the owners of collections that an object has left because it was deleted.
    func noteLeaving(
        _ memberships: [(owner: UInt64, order: UInt64?)], _ entity: EntityStorage, _ walk: DeletionWalk,
        _ history: HistoryWriter, _ transaction: inout Transaction
    ) throws {
        for (membership, index) in zip(memberships, entity.memberIndexes) where membership.owner != 0 {
            guard case .toOne(let relationship) = entity.slots[index.slot],
                case .toMany(let slot) = relationship.inverse,
                !walk.doomed[relationship.destination].contains(membership.owner)
            else { continue }
            try noteCollection(
                membership.owner, slot, store.storage.entities[relationship.destination], history, &transaction)
        }
    }

    private func noteCollection(
        _ owner: RecordID, _ slot: Int, _ entity: EntityStorage, _ history: HistoryWriter,
        _ transaction: inout Transaction
    ) throws {
        // Others may have deleted it.
        guard owner != 0, try !transaction.location(of: owner, in: entity.table).isAbsent else { return }
        try history.noteUpdate(owner, mask: SlotMask.bit(slot), entity, in: &transaction)
    }
}

// MARK: Reading

extension ContextCore {
    /// How entities and properties of the history are spelled out.
    private var historyModels: HistoryModels { HistoryModels(store, homes.compactMap(\.type)) }

    func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] {
        let limit = descriptor.fetchLimit == 0 ? Int.max : Int(clamping: descriptor.fetchLimit)
        var found: [DefaultHistoryTransaction] = []
        let snapshot = store.log.snapshot()
        try forEachTransaction(descriptor.predicate, in: snapshot, expires: true) { transaction in
            try transaction.models.check(transaction.stored)
            found.append(transaction)
            // Another order may want the last one first.
            return !descriptor.sortBy.isEmpty || found.count < limit
        }
        guard !descriptor.sortBy.isEmpty else { return found }
        return Array(found.sorted(using: descriptor.sortBy).prefix(limit))
    }

    func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        guard !isReadOnly else {
            throw SwiftDataError.modelValidationFailure.explained(
                "The container was made with allowsSave: false. Make another one to delete history.")
        }
        let limit = descriptor.fetchLimit == 0 ? Int.max : Int(clamping: descriptor.fetchLimit)
        let snapshot = store.log.snapshot()
        var trimming = HistoryTrimming(log: store.log)
        if descriptor.sortBy.isEmpty {
            var count = 0
            try forEachTransaction(descriptor.predicate, in: snapshot, expires: false) { transaction in
                count += 1
                try trimming.delete(transaction.stored)
                return count < limit
            }
        } else {
            for transaction in try fetchHistory(descriptor) { try trimming.delete(transaction.stored) }
        }
        try trimming.finish()
    }

    /// Calls `body` with the transactions that satisfy a predicate, in their order; it returns false to stop.
    private func forEachTransaction(
        _ predicate: Predicate<DefaultHistoryTransaction>?, in snapshot: Snapshot, expires: Bool,
        _ body: (DefaultHistoryTransaction) throws -> Bool
    ) throws {
        let models = historyModels
        let bounds = HistoryBounds(predicate)
        var after: RecordID = 0
        for token in [bounds.after, bounds.from].compactMap({ $0 }) {
            guard let number = token.tokenValue?[models.storeIdentifier] else { continue }
            let time = try snapshot.historyTime(of: RecordID(clamping: number))
            if expires, number != 0, time == nil || time != token.times[models.storeIdentifier] {
                throw SwiftDataError.historyTokenExpired.explained(
                    "The history no longer has transaction \(number), which the token names: it was deleted, a migration let the history begin anew, or the store is another state of itself. Read what is stored, and begin with the newest token."
                )
            }
            // That of the first record of the transaction is not known; one before the last is too many at most.
            let isAfter = token == bounds.after
            after = max(after, isAfter ? RecordID(clamping: number) : 0)
        }
        historyRecordsRead += try snapshot.forEachTransaction(after: after) { stored in
            let transaction = DefaultHistoryTransaction(stored: stored, models: models)
            if let predicate, try !predicate.evaluate(transaction) { return true }
            return try body(transaction)
        }
    }
}
