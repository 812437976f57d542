internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Runs the batches of a context: deletions, updates and insertions of many objects, without making them.
struct BatchRunner {
    let context: ContextCore

    init(_ context: ContextCore) { self.context = context }

    // MARK: Delete

    func batchDelete<T: PersistentModel>(_ source: QuerySource<T>) throws -> BatchResult {
        try context.refuseForDataStore()
        try checkMayBatch()
        return try selectingAnew { try batchDeleteOnce(source) }
    }

    private func batchDeleteOnce<T: PersistentModel>(_ source: QuerySource<T>) throws -> BatchResult {
        let (query, numbers, selected) = try select(source)
        // A context without unsaved changes, so that only the deletion is saved.
        let batch = ContextCore(
            store: context.store, types: context.homes.all.compactMap(\.type), tallies: nil,
            recordsHistory: context.history.isRecorded)
        batch.history.author = context.history.author
        batch.stage = context.stage
        batch.rules.sharedTables = context.rules.sharedTables
        batch.pending.doomedNumbers = numbers.isEmpty ? nil : (query.entity.ordinal, numbers)
        batch.saving.selection = BatchSelection(table: query.entity.table, numbers: numbers, snapshot: selected)
        try batch.save()
        context.tally.add(batch.counters)
        showNewest()
        return BatchResult(objectCounts: batch.saving.deletedCounts)
    }

    // MARK: Update

    func batchUpdate<T: PersistentModel>(_ source: QuerySource<T>, _ changes: [SlotChange]) throws -> BatchResult {
        try context.refuseForDataStore()
        try checkMayBatch()
        return try context.tellingAfterwards { try selectingAnew { try batchUpdateOnce(source, changes) } }
    }

    private func batchUpdateOnce<T: PersistentModel>(
        _ source: QuerySource<T>, _ changes: [SlotChange]
    ) throws -> BatchResult {
        let (query, numbers, selected) = try select(source)
        guard !numbers.isEmpty, !changes.isEmpty else { return BatchResult() }
        let entity = query.entity
        var count = 0
        try context.history.prepare(context.store)
        do {
            _ = try context.store.log.write(author: context.history.author) { transaction in
                try context.store.checkInForce(in: transaction)
                try context.stage?.checkIsRunning()
                try BatchSelection(table: entity.table, numbers: numbers, snapshot: selected).check(in: transaction)
                let history = context.history.begin(context.store, in: transaction)
                count = try update(numbers, entity, changes, history, in: &transaction)
                try history?.end(in: &transaction)
            }
        } catch let error as StoreError where [.duplicate, .tooLarge].contains(error.code) {
            throw SwiftDataError.modelValidationFailure.explained(error.message)
        }
        showNewest()
        return BatchResult(objectCounts: [entity.name: count])
    }

    /// - Returns: How many objects existed.
    private func update(
        _ numbers: [RecordID], _ entity: EntityStorage, _ changes: [SlotChange], _ history: HistoryWriter?,
        in transaction: inout Transaction
    ) throws -> Int {
        try context.rules.checkUnshared(entity.table, "objects of \(entity.name)", "changed")
        var writer = RowWriter(context.store, keepingBlobsBelow: context.stage?.firstOwnBlob ?? 0)
        let mask = changes.reduce(0) { $0 | SlotMask.bit($1.slot) }
        /// Calls `body` with the changed draft of each object that still exists.
        func forEachDraft(_ body: (RecordID, Draft, UInt64) throws -> Void) throws {
            var cancellation = CancellationPoint()
            for number in numbers {
                try cancellation.pass()
                let location = try transaction.location(of: number, in: entity.table)
                guard !location.isAbsent else { continue }
                var draft = try writer.draft(of: number, entity, in: transaction)
                defer { draft.destroy() }
                for change in changes { change.apply(to: &draft) }
                try body(number, draft, UInt64(location.segment) << 32 | UInt64(location.offset))
            }
        }
        // Released keys come first, so that one object may take over another one's.
        if mask & entity.indexedSlots != 0 {
            try forEachDraft { number, draft, _ in
                try writer.releaseKeys(of: draft, id: number, entity, in: &transaction)
            }
        }
        var count = 0
        try forEachDraft { number, draft, base in
            try writer.update(draft, id: number, base: base, entity, in: &transaction)
            try history?.noteUpdate(number, mask: mask, entity, in: &transaction)
            count += 1
        }
        try LeftBehind.leave(writer.keptBlobs, in: &transaction)
        return count
    }

    // MARK: Parts of both

    func checkMayBatch() throws {
        try context.checkIsOutsideOfBatch()
        try LifecycleCalls(context).checkIsNotSaving()
        try context.stage?.checkIsRunning()
        try context.rules.checkSavesByItself(false)
        guard !context.rules.isReadOnly else {
            throw SwiftDataError.modelValidationFailure.explained(
                "The container was made with allowsSave: false. Make another one to save.")
        }
        guard context.state.pinLabel == nil else {
            throw LogError(.readOnly, "The context is pinned, so nothing can be saved in it. Unpin it first.")
        }
    }

    /// Numbers of the selected objects, in the stored state.
    private func select<T: PersistentModel>(
        _ source: QuerySource<T>
    ) throws -> (query: Query<T>, numbers: [RecordID], selected: Snapshot) {
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
        let query = try source.prepare(context)
        return (query, try FetchRunner(context).storedNumbers(query, source), context.snapshot)
    }

    /// Runs a batch, and repeats it from the beginning if one of its objects was saved since the selection.
    ///
    /// - Throws: `SwiftDataError.modelValidationFailure` after too many repetitions.
    private func selectingAnew<R>(_ body: () throws -> R) throws -> R {
        for _ in 0..<BatchSelection.attemptMax {
            do { return try body() } catch is ChangedMeanwhile {
                // Writes nothing: waits until the newer state, which was met in the writer's turn, can be read.
                _ = try context.store.log.write(author: nil) { _ in }
            }
        }
        throw SwiftDataError.modelValidationFailure.explained(
            "Others have saved objects of the batch \(BatchSelection.attemptMax) times between their selection and the transaction. Select fewer at a time."
        )
    }

    /// Moves objects without unsaved changes to the written state; reports errors instead of throwing, because the
    /// batch is written.
    func showNewest() {
        do throws(LogError) { try context.beginReading() } catch { return context.report(error) }
        defer { context.endReading() }
        context.moveOn()
    }
}
