import FaultlineDisk

/// Turns memtables into index runs, and merges runs.
///
/// Concurrency: `flushing` is held while memtables become runs: by a checkpoint, or by a transaction that is larger
/// than memory. Lock order: writer lock, this.
// Safe because all stored properties are immutable, or have their own locks.
final class RunStore: @unchecked Sendable {
    private let directory: StoreDirectory
    private let manifest: Manifest
    private let publisher: Publisher
    private let cache: BlockCache
    private let budget: MemoryBudget
    private let flushing = EngineLock()

    init(directory: StoreDirectory, manifest: Manifest, publisher: Publisher, cache: BlockCache, budget: MemoryBudget) {
        self.directory = directory
        self.manifest = manifest
        self.publisher = publisher
        self.cache = cache
        self.budget = budget
    }

    typealias Flushed = (index: IndexID, memtable: Memtable, run: Run)

    func withFlushing<R>(_ body: () throws(LogError) -> R) throws(LogError) -> R {
        flushing.lock()
        defer { flushing.unlock() }
        return try body()
    }

    /// Writes one run for each frozen memtable, oldest first.
    ///
    /// The files are durable, their entries in the directory are not.
    ///
    /// - Parameters:
    ///   - state: The index, with its frozen memtables and its runs.
    ///   - through: The last transaction; memtables with later entries are left.
    ///   - oldestLimit: See `VersionFilter`.
    /// - Returns: The memtables that were written, each with its run, oldest first.
    /// - Throws: Disk errors; runs written before the error are not listed.
    func flush(_ state: IndexState, through: UInt64, oldestLimit: UInt64) throws(LogError) -> [Flushed] {
        var flushed: [Flushed] = []
        for (place, memtable) in state.frozen.enumerated().reversed() where memtable.lastSequence <= through {
            let isOldest = state.runs.isEmpty && place == state.frozen.count - 1
            flushed.append(
                (state.definition.id, memtable, try write(memtable, isOldest: isOldest, oldestLimit: oldestLimit)))
        }
        return flushed
    }

    /// Writes one memtable as a run.
    func write(_ memtable: Memtable, isOldest: Bool, oldestLimit: UInt64) throws(LogError) -> Run {
        try Self.write(
            memtable, isOldest: isOldest, oldestLimit: oldestLimit, in: directory, cache: cache, budget: budget)
    }

    /// Writes one memtable as a run.
    static func write(
        _ memtable: Memtable, isOldest: Bool, oldestLimit: UInt64, in directory: StoreDirectory, cache: BlockCache,
        budget: MemoryBudget
    ) throws(LogError) -> Run {
        let managed = try directory.create(.indexRun)
        var writer = try RunWriter(
            file: managed.file, header: managed.header, definition: memtable.definition, level: 0,
            expectedEntryCount: UInt64(memtable.entryCount), budget: budget)
        try memtable.flush(oldestLimit: oldestLimit, isOldest: isOldest, to: &writer)
        _ = try writer.finish()
        return try open(managed, memtable.definition, in: directory, cache: cache)
    }

    static func open(
        _ managed: ManagedFile, _ definition: IndexDefinition, in directory: StoreDirectory, cache: BlockCache
    ) throws(LogError) -> Run {
        try Run.open(
            managed.file, fileNumber: managed.number, storeID: (directory.storeID.high, directory.storeID.low),
            definition: definition, cache: cache, owner: managed)
    }

    /// The edits that list a run.
    static func additions(of run: Run) throws(LogError) -> [ManifestEdit] {
        let description = run.description
        guard let managed = run.managed else { preconditionFailure("A run that is listed is a file of the store.") }
        return [
            managed.addition(),
            try managed.completion(first: description.firstSequence, last: description.lastSequence),
            .runAdded(
                ManifestEdit.RunEntry(
                    index: run.definition.id.rawValue, level: description.level, file: description.fileNumber,
                    entryCount: description.entryCount, firstSequence: description.firstSequence,
                    lastSequence: description.lastSequence)),
        ]
    }

    /// Replaces memtables by their runs.
    func adopt(_ flushed: [Flushed]) {
        guard !flushed.isEmpty else { return }
        publisher.changeIndexes { indexes in
            for (index, memtable, run) in flushed {
                guard var state = indexes[index] else { continue }
                state.frozen.removeAll { $0 === memtable }
                state.runs.insert(run, at: 0)
                indexes = indexes.replacing(state)
            }
        }
    }

    // MARK: Merging

    /// Merges listed runs until no index has too many.
    ///
    /// - Parameter allowance: Bytes of runs that may be merged, lowered by those that are. An index whose next merge takes
    ///   more keeps its runs.
    /// - Throws: Disk errors; no run is lost by them.
    func mergeDue(_ allowance: inout UInt64) throws(LogError) {
        for state in publisher.snapshot.indexes.all {
            let definition = state.definition
            while let plan = MergePlan(listedRuns(of: definition).map(\.description)) {
                let inputs = Array(listedRuns(of: definition)[plan.range])
                // The next opening rebuilds the index.
                if inputs.contains(where: { $0.managed?.isDamaged == true }) { break }
                let inputByteCount = manifest.state.byteCount(of: inputs)
                guard inputByteCount <= allowance else { break }
                if allowance != .max { allowance -= inputByteCount }
                let begin = directory.watch.now()
                let run = try merge(
                    inputs, definition, level: plan.level, isOldestIncluded: plan.isOldestIncluded, oldestLimit: .max)
                try directory.synchronize(site: "merge.directory")
                var edits = try Self.additions(of: run)
                for input in inputs {
                    edits.append(.runDropped(index: definition.id.rawValue, file: input.description.fileNumber))
                    edits.append(.fileDropped(number: input.description.fileNumber))
                }
                try manifest.makeRoom(editCount: edits.count)
                run.managed?.noteListed()
                try manifest.commit(edits)
                publisher.changeIndexes { Self.replace(inputs, by: run, definition, in: &$0) }
                for input in inputs { input.managed?.noteDropped() }
                if let managed = run.managed { directory.letRest(managed) }
                let byteCount = manifest.state.files[run.description.fileNumber]?.seal?.end ?? 0
                directory.watch.note(
                    .runsMerged(
                        count: inputs.count, byteCount: byteCount,
                        nanoseconds: directory.watch.nanoseconds(since: begin)))
            }
        }
    }

    /// The runs that the manifest lists, newest first: not those of an open transaction.
    private func listedRuns(of definition: IndexDefinition) -> [Run] {
        let files = manifest.state.files
        return (publisher.snapshot.indexes[definition.id]?.runs ?? []).filter {
            files[$0.description.fileNumber] != nil
        }
    }

    /// Writes a run with the entries of several.
    ///
    /// The file is durable, its entry in the directory is not.
    func merge(
        _ inputs: [Run], _ definition: IndexDefinition, level: UInt16, isOldestIncluded: Bool, oldestLimit: UInt64
    ) throws(LogError) -> Run {
        let managed = try directory.create(.indexRun)
        let expected = inputs.reduce(UInt64(0)) { $0 + $1.description.entryCount }
        let writer = try RunWriter(
            file: managed.file, header: managed.header, definition: definition, level: level,
            expectedEntryCount: expected,
            budget: budget)
        do throws(LogError) {
            let merger = try RunMerger(
                inputs, oldestLimit: oldestLimit, isOldestIncluded: isOldestIncluded, into: writer)
            _ = try merger.finish()
        } catch {
            guard error.code == .damaged, let input = inputs.first(where: { $0.file.path == error.path })?.managed
            else { throw error }
            input.noteDamaged()
            throw input.noting(error)
        }
        return try Self.open(managed, definition, in: directory, cache: cache)
    }

    /// Replaces runs by the run that they were merged into.
    static func replace(_ inputs: [Run], by run: Run, _ definition: IndexDefinition, in indexes: inout IndexSet) {
        guard var state = indexes[definition.id], let first = state.runs.firstIndex(where: { $0 === inputs.first })
        else { return }
        state.runs.removeAll { run in inputs.contains { $0 === run } }
        state.runs.insert(run, at: first)
        indexes = indexes.replacing(state)
    }
}

extension ManifestState {
    /// Bytes of listed runs.
    fileprivate func byteCount(of runs: [Run]) -> UInt64 {
        runs.reduce(0) { $0 + (files[$1.description.fileNumber]?.seal?.end ?? 0) }
    }
}

extension Run {
    /// The run's file, which it keeps open.
    var managed: ManagedFile? { owner as? ManagedFile }
}
