internal import FaultlineLog
internal import FaultlineStore

extension ContextCore {
    func batchInsert(
        _ home: EntityHome, _ type: ModelType, _ policy: UniquenessPolicy?, _ fill: (BatchValues) throws -> Bool
    ) throws -> BatchResult {
        try checkMayBatch()
        guard let entity = home.entity else {
            throw SwiftDataError.unknownSchema.explained("\(home.entityName) has no table in this store.")
        }
        let insertion = BatchInsertion(
            self, entity, BatchValues(type, entity, store), policy ?? pending.policies.uniqueness)
        try prepareHistory()
        do {
            _ = try store.log.write(author: history.author) { transaction in
                try store.checkInForce(in: transaction)
                try stage?.checkIsRunning()
                try store.whileBatching { try insertion.run(in: &transaction, fill) }
            }
        } catch let error as StoreError where [.duplicate, .missing, .tooLarge].contains(error.code) {
            throw SwiftDataError.modelValidationFailure.explained(
                "Row \(insertion.count + 1) of the batch: \(error.message)")
        }
        let count = insertion.count - insertion.ignoredCount
        if let stage, count > 0 {
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

    /// Refuses to write inside the closure of a batch insertion, which holds the writer's turn: the write would wait
    /// for itself.
    func checkIsOutsideOfBatch() throws {
        guard store.isBatching else { return }
        throw SwiftDataError.modelValidationFailure.explained(
            "A save was called while a batch insertion of the same store asks for its rows. Save before it, or after.")
    }
}
