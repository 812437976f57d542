import FaultlineDisk

extension Sequencer {
    /// Freezes every memtable that has entries.
    ///
    /// The caller must hold the writer lock, between transactions.
    func freezeMemtables() {
        indexes = publisher.changeIndexes { indexes in
            for var state in indexes.all where state.active.entryCount > 0 {
                freeze(&state)
                indexes = indexes.replacing(state)
            }
        }
    }

    private func freeze(_ state: inout IndexState) {
        state.active.freeze()
        state.frozen.insert(state.active, at: 0)
        state.active = Memtable(definition: state.definition, budget: budget)
    }

    // MARK: When a checkpoint is due

    /// Whether enough log was written, or enough memory is in use that only a checkpoint frees.
    ///
    /// The caller must hold the writer lock.
    var isCheckpointDue: Bool {
        byteCountSinceCheckpoint >= UInt64(options.checkpointByteCount)
            || (options.isCompacting && account.deadBlobByteCount >= UInt64(options.checkpointByteCount))
            || unstoredByteCount > budget.byteCount / 2
    }

    /// Whether checkpoints fall behind, so that writers must wait.
    var isCheckpointOverdue: Bool { unstoredByteCount > budget.byteCount / 4 * 3 }

    private var unstoredByteCount: Int {
        let most = budget.used(for: .pages) + budget.used(for: .memtables)
        guard most > budget.byteCount / 2 else { return 0 }
        return most - cache.cleanPageCount * TablePage.byteCount
    }

    // MARK: Transactions larger than the budget

    /// Moves pages and index entries of the current transaction to files, if they take too much memory.
    func spillIfNeeded() throws(LogError) {
        if stage.byteCount > budget.byteCount / 16 { try spillEntries() }
        let changed = budget.used(for: .pages) - cache.cleanPageCount * TablePage.byteCount
        // Pages that the next commit supersedes are not worth writing while there is memory for them.
        guard changed + budget.used(for: .memtables) > budget.byteCount / 4 * 3 else { return }
        if changed > current.pinnedByteCount + budget.byteCount / 4 {
            // Most of the earlier spill is superseded by now.
            directory.removeUnneededFiles(mayMove: false)
            tables.leavePage()
            try PageSpill.spill(tables.captured, cache: cache, in: directory, sequence: sequence)
            try PageSpill.spill(tables.set, cache: cache, in: directory, sequence: sequence + 1)
            // Pages that only snapshots see cannot be spilled; they must not make the next frame spill again.
            current.pinnedByteCount = budget.used(for: .pages) - cache.cleanPageCount * TablePage.byteCount
        }
    }

    /// Writes the staged entries as runs that become visible with this transaction's number.
    ///
    /// Sources of an index are ordered by age, so entries in memtables go to runs first.
    private func spillEntries() throws(LogError) {
        let number = sequence + 1
        for (place, definition) in stage.definitions.enumerated() {
            try runs.withFlushing { () throws(LogError) in
                try flushOlder(than: number, definition)
                let memtable = Memtable(definition: definition, budget: budget)
                stage.append(place, to: memtable, sequence: number)
                memtable.freeze()
                guard memtable.entryCount > 0 else { return }
                let run = try runs.write(memtable, isOldest: false, oldestLimit: sequence)
                indexes = publisher.changeIndexes { indexes in
                    guard var state = indexes[definition.id] else { return }
                    state.runs.insert(run, at: 0)
                    indexes = indexes.replacing(state)
                }
                current.spilledRuns[definition.id, default: []].insert((run, rank: 0), at: 0)
                try mergeSpilledRuns(of: definition)
            }
        }
        stage.removeAll()
    }

    private func flushOlder(than number: UInt64, _ definition: IndexDefinition) throws(LogError) {
        indexes = publisher.changeIndexes { indexes in
            var state =
                indexes[definition.id]
                ?? IndexState(definition: definition, active: Memtable(definition: definition, budget: budget))
            if state.active.entryCount > 0 { freeze(&state) }
            indexes = indexes.replacing(state)
        }
        guard let state = indexes[definition.id] else { return }
        // The newest published state reads below this transaction's number.
        let flushed = try runs.flush(state, through: number, oldestLimit: publisher.snapshot.sequence)
        runs.adopt(flushed)
        indexes = publisher.snapshot.indexes
    }

    /// Merges the runs spilled by this transaction, four of a rank to one of the next.
    ///
    /// All stay at level 0: older runs of that level may follow them, and an opening takes lower levels for newer.
    private func mergeSpilledRuns(of definition: IndexDefinition) throws(LogError) {
        while let own = current.spilledRuns[definition.id], let plan = MergePlan(levels: own.map(\.rank)) {
            let inputs = own[plan.range].map(\.run)
            let merged = try runs.merge(inputs, definition, level: 0, isOldestIncluded: false, oldestLimit: sequence)
            indexes = publisher.changeIndexes { RunStore.replace(inputs, by: merged, definition, in: &$0) }
            current.spilledRuns[definition.id]?.replaceSubrange(plan.range, with: [(merged, rank: plan.level)])
        }
    }

    /// Removes the runs of a transaction that was rolled back.
    func dropSpilledRuns() {
        guard !current.spilledRuns.isEmpty else { return }
        let spilled = current.spilledRuns
        current.spilledRuns.removeAll()
        indexes = publisher.changeIndexes { indexes in
            for (index, runs) in spilled {
                guard var state = indexes[index] else { continue }
                state.runs.removeAll { run in runs.contains { $0.run === run } }
                indexes = indexes.replacing(state)
            }
        }
    }
}
