internal import FaultlineLog
internal import FaultlineStore
internal import Foundation

/// Reads and deletes the history of a context's store.
struct HistoryReader {
    let context: ContextCore

    init(_ context: ContextCore) { self.context = context }

    /// Translates entities and properties of the history.
    var historyModels: HistoryModels { HistoryModels(context.store, context.homes.all.compactMap(\.type)) }

    func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] {
        let limit = descriptor.fetchLimit == 0 ? Int.max : Int(clamping: descriptor.fetchLimit)
        var found: [DefaultHistoryTransaction] = []
        let snapshot = context.store.log.snapshot()
        try forEachTransaction(descriptor.predicate, in: snapshot, expires: true) { transaction in
            try transaction.models.check(transaction.stored)
            found.append(transaction)
            // Another order may need the last transaction first.
            return !descriptor.sortBy.isEmpty || found.count < limit
        }
        guard !descriptor.sortBy.isEmpty else { return found }
        return Array(found.sorted(using: descriptor.sortBy).prefix(limit))
    }

    func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        guard !context.rules.isReadOnly else {
            throw SwiftDataError.modelValidationFailure.explained(
                "The container was made with allowsSave: false. Make another one to delete history.")
        }
        let limit = descriptor.fetchLimit == 0 ? Int.max : Int(clamping: descriptor.fetchLimit)
        let snapshot = context.store.log.snapshot()
        var trimming = HistoryTrimming(log: context.store.log)
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

    /// Calls `body` with the transactions that satisfy a predicate, in their order, until it returns false.
    private func forEachTransaction(
        _ predicate: Predicate<DefaultHistoryTransaction>?, in snapshot: Snapshot, expires: Bool,
        _ body: (DefaultHistoryTransaction) throws -> Bool
    ) throws {
        let models = historyModels
        let bounds = HistoryBounds(predicate)
        var after: RecordID = 0
        for token in [bounds.after, bounds.from].compactMap({ $0 }) {
            guard let number = token.tokenValue?[models.storeIdentifier] else { continue }
            if expires {
                let position = HistoryPosition(
                    number: RecordID(clamping: number), microseconds: token.times[models.storeIdentifier] ?? 0)
                try position.check(in: snapshot)
            }
            // The number of the transaction's first record is unknown, so `from` sets no lower bound.
            let isAfter = token == bounds.after
            after = max(after, isAfter ? RecordID(clamping: number) : 0)
        }
        context.reports.walked.historyRecords += try snapshot.forEachTransaction(after: after) { stored in
            let transaction = DefaultHistoryTransaction(stored: stored, models: models)
            if let predicate, try !predicate.evaluate(transaction) { return true }
            return try body(transaction)
        }
    }
}
