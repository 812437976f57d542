/// Merges runs into one, a step at a time.
///
/// The runs are neighbours in age. Memory: 68 KiB a run, which its cursor reserves, and the memory of `RunWriter`. The
/// inputs stay as they are; the caller adds the new run and drops them in one edit of the manifest.
package struct RunMerger: ~Copyable {
    private var merge: EntryMerge
    private var filter: VersionFilter
    private var writer: RunWriter

    /// Begins a merge.
    ///
    /// - Parameters:
    ///   - runs: Newest first.
    ///   - oldestLimit: The smallest sequence number that a snapshot reads at; `UInt64.max` if there is none below the
    ///     newest.
    ///   - isOldestIncluded: The oldest run of the index is among them, so that deletes need not be kept.
    ///   - writer: A writer without entries, made for as many as the runs have together.
    /// - Throws: `.damaged` if the first block of a run does not verify; errors of reading it.
    package init(
        _ runs: [Run], oldestLimit: UInt64, isOldestIncluded: Bool, into writer: consuming RunWriter
    ) throws(LogError) {
        merge = EntryMerge(limit: .max)
        filter = VersionFilter(oldestLimit: oldestLimit, dropsDeletes: isOldestIncluded)
        self.writer = writer
        for run in runs { try merge.add(run.streamingCursor()) }
    }

    /// Takes up to `entryCount` entries from the inputs.
    ///
    /// - Returns: False at the end of the inputs.
    package mutating func step(entryCount: Int) throws(LogError) -> Bool {
        for _ in 0..<entryCount {
            guard let entry = try merge.next() else { return false }
            guard filter.keeps(entry) else { continue }
            try writer.append(
                key: UnsafeRawBufferPointer(start: entry.pointee.key, count: entry.pointee.keyByteCount),
                id: entry.pointee.id,
                sequence: entry.pointee.sequence, isDelete: entry.pointee.isDelete)
        }
        return true
    }

    /// Takes all remaining entries and makes the new run durable, as `RunWriter.finish` does.
    package consuming func finish() throws(LogError) -> RunDescription {
        while try step(entryCount: 4096) {}
        return try writer.finish()
    }
}
