internal import FaultlineLog
internal import FaultlineStore

extension BatchRunner {
    /// Inserts new objects, as `ModelContext.batchInsert`.
    ///
    /// - Parameters:
    ///   - home: The home of the objects.
    ///   - type: Their class.
    ///   - place: The position of an entity without a class in a table with several.
    ///   - policy: The treatment of a row whose unique values another object has; nil for that of the context.
    ///   - fill: Fills a row with values; false if there are no more.
    /// - Returns: How many objects the rows make, and how many were stored before or left out.
    /// - Throws: As `ModelContext.batchInsert`.
    func batchInsert(
        _ home: EntityHome, _ type: ModelType, inClass place: Int = 0, _ policy: UniquenessPolicy?,
        _ fill: (BatchValues) throws -> Bool
    ) throws -> BatchResult {
        try context.refuseForDataStore()
        try checkMayBatch()
        guard let entity = home.entity else {
            throw SwiftDataError.unknownSchema.explained("\(home.entityName) has no table in this store.")
        }
        let insertion = BatchInsertion(
            context, entity, BatchValues(of: type, home, entity, context.store, inClass: place),
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
