package import FaultlineDisk
package import FaultlineLog

/// A store that may be damaged anywhere, opened for reading as far as its files can be identified.
///
/// Nothing is written to it, and only the files' own headers are needed. A readable manifest adds the ends of segments,
/// the dropped ones, and the content of damaged headers.
package struct SalvageSource: ~Copyable {
    let directory: StoreDirectory
    let facts: ManifestFacts
    /// The segments of commits, in the order in which they were written, and then those of moved records.
    let segments: [SalvageSegment]
    private let isCompacted: Bool
    /// All segments, by the low 32 bits of their number.
    let files: FileTable
    /// Files that are missing, or that cannot be identified.
    let lost: [LostRange]
    /// Damage of files that are not needed.
    let remarks: [SalvageRemark]
    private let lock: StoreLock

    /// Opens the files of a store.
    ///
    /// - Throws: `.notAStore` if there is no file of a store; `.lockedByAnother` if another process is writing;
    ///   `.newerFormat`; disk errors.
    package static func open(_ path: String, on disk: Disk) throws(LogError) -> SalvageSource {
        let names = try onDisk("listing the store's directory") { () throws(DiskError) in try disk.names(in: path) }
        let lock = try StoreLock.take(path + "/" + FileName.lock, on: disk, for: .reading, clock: .system)
        do throws(LogError) {
            try refuseWriter(lock, path)
            let found = try FoundFiles(path, names, on: disk)
            let hot = found.segments.filter { $0.kind == .hotSegment }
            var cold: [SalvageSegment] = []
            for managed in found.segments where managed.kind == .coldSegment {
                cold.append(try SalvageSegment(managed, found.facts, isFollowed: false, ceiling: .max))
            }
            return SalvageSource(found, try SalvageSegment.ordered(hot, found.facts) + cold, lock)
        } catch {
            lock.release()
            throw error
        }
    }

    private init(_ found: FoundFiles, _ segments: [SalvageSegment], _ lock: StoreLock) {
        isCompacted = found.isCompacted
        directory = found.directory
        facts = found.facts
        lost = found.lost
        remarks = found.remarks
        files = FileTable(found.segments)
        self.segments = segments
        self.lock = lock
    }

    deinit {
        lock.release()
    }

    /// - Throws: `.lockedByAnother` if another process is writing to the store.
    func refuseWriter() throws(LogError) { try Self.refuseWriter(lock, directory.path) }

    private static func refuseWriter(_ lock: StoreLock, _ path: String) throws(LogError) {
        guard try lock.hasWriter() else { return }
        throw LogError(
            .lockedByAnother,
            "The store is open for writing, so what salvage reads may be half written. Close it first.", path: path)
    }
}

extension SalvageSource {
    /// Returns whether compaction dropped a hot segment, as far as this is known.
    var droppedSegments: (UInt64) -> Bool {
        let (isCompacted, listed, files) = (isCompacted, facts.files, files)
        return { number in
            guard isCompacted else { return false }
            return listed.isEmpty ? files.find(UInt32(truncatingIfNeeded: number)) == nil : listed[number] == nil
        }
    }

    /// The transactions that hot segments must hold: all, without those of segments that compaction dropped.
    func expected(_ replay: borrowing SalvageReplay) -> [ClosedRange<UInt64>] {
        let newest = replay.newestSequence
        guard isCompacted else { return newest > 0 ? [1...newest] : [] }
        guard !facts.files.isEmpty else { return replay.spans }
        return facts.files.values.filter { $0.kind == .hotSegment }.sorted { $0.number < $1.number }.compactMap {
            let last = facts.lastSequences[$0.number] ?? newest
            return $0.begun < last ? ($0.begun + 1)...last : nil
        }
    }

    /// Returns, for each table, an identifier above all used ones.
    ///
    /// If records are lost, no identifier that one of them may have had is used again: references to it would find
    /// another object. A record takes 24 bytes at least.
    borrowing func nextIDs(above versions: VersionTables, lost report: SalvageReport) -> [TableID: RecordID] {
        var reserve: UInt64 = 0
        if !report.lostTransactions.isEmpty || report.lostRangeCount > 0 {
            let isSizeUnknown = lost.contains { $0.byteCount == 0 } || facts.known.isEmpty
            let missing = isSizeUnknown ? UInt64(LogOptions().segmentByteCount) : 0
            reserve = report.lostByteCount / UInt64(RecordHeader.byteCount) + missing / UInt64(RecordHeader.byteCount)
        }
        var next: [TableID: RecordID] = [:]
        for table in Set(versions.tables).union(facts.nextIDs.keys) where table > 0 {
            let known = min(max(versions.nextID(in: table), facts.nextIDs[table] ?? 1), Limits.recordIDMax)
            next[TableID(rawValue: table)] = min(known + min(reserve, Limits.recordIDMax), Limits.recordIDMax)
        }
        return next
    }
}
