internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

extension ContextCore {
    // MARK: Delete

    func batchDelete<T: PersistentModel>(_ source: QuerySource<T>) throws -> BatchResult {
        try checkMayBatch()
        return try selectingAnew { try batchDeleteOnce(source) }
    }

    private func batchDeleteOnce<T: PersistentModel>(_ source: QuerySource<T>) throws -> BatchResult {
        let (query, numbers, selected) = try storedNumbers(source)
        // A context without unsaved changes, so that nothing is saved but the deletion.
        let batch = ContextCore(
            store: store, types: homes.compactMap(\.type), tallies: nil, recordsHistory: recordsHistory)
        batch.author = author
        batch.stage = stage
        batch.sharedTables = sharedTables
        batch.doomedNumbers = numbers.isEmpty ? nil : (query.entity.ordinal, numbers)
        batch.selection = BatchSelection(table: query.entity.table, numbers: numbers, snapshot: selected)
        try batch.save()
        tally.add(batch.counters)
        showNewest()
        return BatchResult(objectCounts: batch.doomedCounts)
    }

    // MARK: Update

    func batchUpdate<T: PersistentModel>(_ source: QuerySource<T>, _ changes: [SlotChange]) throws -> BatchResult {
        try checkMayBatch()
        return try selectingAnew { try batchUpdateOnce(source, changes) }
    }

    private func batchUpdateOnce<T: PersistentModel>(
        _ source: QuerySource<T>, _ changes: [SlotChange]
    ) throws -> BatchResult {
        let (query, numbers, selected) = try storedNumbers(source)
        guard !numbers.isEmpty, !changes.isEmpty else { return BatchResult() }
        let entity = query.entity
        var count = 0
        try prepareHistory()
        do {
            _ = try store.log.write(author: author) { transaction in
                try store.checkInForce(in: transaction)
                try stage?.checkIsRunning()
                try BatchSelection(table: entity.table, numbers: numbers, snapshot: selected).check(in: transaction)
                let history = beginHistory(in: transaction)
                count = try update(numbers, entity, changes, history, in: &transaction)
                try history?.end(in: &transaction)
            }
        } catch let error as StoreError where [.duplicate, .tooLarge].contains(error.code) {
            throw SwiftDataError.modelValidationFailure.explained(error.message)
        }
        showNewest()
        return BatchResult(objectCounts: [entity.name: count])
    }

    /// - Returns: How many objects were there.
    private func update(
        _ numbers: [RecordID], _ entity: EntityStorage, _ changes: [SlotChange], _ history: HistoryWriter?,
        in transaction: inout Transaction
    ) throws -> Int {
        try checkUnshared(entity.table, "objects of \(entity.name)", "changed")
        var writer = RowWriter(store, keepingBlobsBelow: stage?.firstOwnBlob ?? 0)
        let mask = changes.reduce(0) { $0 | SlotMask.bit($1.slot) }
        /// Calls `body` with the changed draft of each object that is still there.
        func forEachDraft(_ body: (RecordID, Draft, UInt64) throws -> Void) throws {
            for number in numbers {
                let location = try transaction.location(of: number, in: entity.table)
                guard !location.isAbsent else { continue }
                var draft = try writer.draft(of: number, entity, in: transaction)
                defer { draft.destroy() }
                for change in changes { change.apply(to: &draft) }
                try body(number, draft, UInt64(location.segment) << 32 | UInt64(location.offset))
            }
        }
        // Keys that are given up come first, so that one object may take over another one's.
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
        try checkIsOutsideOfBatch()
        try checkIsNotSaving()
        try stage?.checkIsRunning()
        try checkSavesByItself(false)
        guard !isReadOnly else {
            throw SwiftDataError.modelValidationFailure.explained(
                "The container was made with allowsSave: false. Make another one to save.")
        }
        guard pinLabel == nil else {
            throw LogError(.readOnly, "The context is pinned, so nothing can be saved in it. Unpin it first.")
        }
    }

    /// Numbers of the objects that are wanted, as they are stored now.
    private func storedNumbers<T: PersistentModel>(
        _ source: QuerySource<T>
    ) throws -> (query: Query<T>, numbers: [RecordID], selected: Snapshot) {
        try beginReading()
        defer { endReading() }
        moveToNewest()
        let query = try source.prepare(self)
        return (query, try storedNumbers(query, source), snapshot)
    }

    /// Carries a batch out, again from the beginning if others have saved one of its objects since they were selected.
    ///
    /// - Throws: `SwiftDataError.modelValidationFailure` if that happens again and again.
    private func selectingAnew<R>(_ body: () throws -> R) throws -> R {
        for _ in 0..<BatchSelection.attemptMax {
            do { return try body() } catch is ChangedMeanwhile {
                // Nothing is written: waits until what was met in the turn can be read.
                _ = try store.log.write(author: nil) { _ in }
            }
        }
        throw SwiftDataError.modelValidationFailure.explained(
            "Others have saved objects of the batch \(BatchSelection.attemptMax) times between their selection and the transaction. Select fewer at a time."
        )
    }

    /// Lets objects without unsaved changes show what was written; what keeps it from that is told, since it is written.
    func showNewest() {
        do throws(LogError) { try beginReading() } catch { return report(error) }
        defer { endReading() }
        moveToNewest()
    }
}
