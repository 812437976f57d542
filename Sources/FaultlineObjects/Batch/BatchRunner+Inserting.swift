internal import FaultlineLog
internal import FaultlineStore

extension BatchRunner {
    /// Inserts new objects, as `ModelContext.batchInsert`.
    ///
    /// - Parameters:
    ///   - named: The entity of the objects.
    ///   - policy: The treatment of a row whose unique values another object has; nil for that of the context.
    ///   - fill: Fills a row with values; false if there are no more.
    /// - Returns: How many objects the rows make, and how many were stored before or left out.
    /// - Throws: As `ModelContext.batchInsert`.
    func batchInsert(
        _ named: NamedEntity, _ policy: UniquenessPolicy?, _ fill: (BatchValues) throws -> Bool
    ) throws -> BatchResult {
        try context.refuseForDataStore()
        try checkMayBatch()
        let entity = named.storage
        let insertion = BatchInsertion(
            context, entity, BatchValues(of: named, context.store),
            policy ?? context.pending.policies.uniqueness)
        try context.history.prepare(context.store)
        do {
            _ = try context.store.log.write(author: context.history.author) { transaction in
                try context.store.checkInForce(in: transaction)
                try context.stage?.checkIsRunning()
                try context.store.whileBatching { try insertion.run(in: &transaction, fill) }
            }
        } catch let error as StoreError where [.duplicate, .missing, .tooLarge].contains(error.code) {
            throw SwiftDataError.modelValidationFailure.explained(
                "Row \(insertion.count + 1) of the batch: \(error.message)")
        }
        let count = insertion.count - insertion.ignoredCount
        if let stage = context.stage, count > 0 {
            var saved = StageSession.Counts()
            saved.written = [entity.name: count]
            stage.noteSaved(saved)
        }
        if count > 0 { showNewest() }
        var result = BatchResult(objectCounts: count > 0 ? [entity.name: count] : [:])
        result.ignoredCount = insertion.ignoredCount
        result.upsertCount = insertion.upsertCount
        return result
    }
}
