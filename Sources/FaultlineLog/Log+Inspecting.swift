import FaultlineDisk

extension Log {
    /// The store's directory.
    package var storePath: String { directory.path }

    /// Free bytes of the disk; nil if the disk does not report them.
    package var freeByteCount: UInt64? {
        do throws(DiskError) { return try directory.disk.freeByteCount(in: directory.path) } catch { return nil }
    }

    /// The space that the store takes, counted now.
    ///
    /// - Parameter countsLive: Whether to count live bytes; if not, they are 0.
    /// - Returns: Bytes and counts of all files that the manifest lists.
    /// - Throws: `.damaged` if a page or a placement needed for the count does not verify; disk errors.
    /// - Complexity: Reads every page of every table, and every placement of a blob; neither if live bytes are not
    ///   counted.
    package func usage(countsLive: Bool = true) throws(LogError) -> LogUsage {
        let snapshot = snapshot()
        let manifest = manifestState
        let live = countsLive ? try LiveBytes(snapshot) : LiveBytes()
        if let error = live.unreadable { throw error }
        let sequencer = writing?.sequencer
        let dead = sequencer?.turn.withLock { sequencer?.deadByteCounts() } ?? [:]
        var logEnds = found.ends
        if let sequencer {
            let end = sequencer.turn.withLock { sequencer.logEnd }
            logEnds = [end.segment.number: end.offset]
        }
        var usage = LogUsage()
        for root in snapshot.tables.all {
            let table = TableID(rawValue: root.table)
            for page in 0..<root.pageCount where root.handle(ofPage: page) != nil { usage.pageCount += 1 }
            if root.recordCount > 0 { usage.recordCounts[table] = root.recordCount }
        }
        for (number, entry) in manifest.files.sorted(by: { $0.key < $1.key }) {
            // Zeros may follow the log in the file.
            let logEnd = entry.kind == .hotSegment && entry.seal == nil ? logEnds[number] : nil
            let byteCount = if let logEnd { logEnd } else { try byteCount(of: entry.kind, number, seal: entry.seal) }
            switch entry.kind {
            case .hotSegment, .coldSegment, .blobSegment:
                usage.segments.append(
                    LogUsage.Segment(
                        number: number, kind: entry.kind, byteCount: byteCount,
                        liveByteCount: live[number],
                        deadByteCount: dead[UInt32(truncatingIfNeeded: number)] ?? 0, isSealed: entry.seal != nil))
            case .tableCheckpoint:
                usage.checkpointByteCount += byteCount
                usage.checkpointFileCount += 1
            case .indexRun:
                usage.runByteCount += byteCount
                usage.runCount += 1
            case .manifest: break
            }
        }
        if let writing {
            usage.manifestByteCount = writing.manifest.byteCount
        } else {
            usage.manifestByteCount = try manifestFileByteCount()
        }
        (usage.quarantinedFileCount, usage.quarantinedByteCount) = try files(in: FileName.quarantine)
        (usage.retainedFileCount, usage.retainedByteCount) = try files(in: FileName.retained)
        usage.memoryByteCount = budget.used
        return usage
    }

    /// Number and bytes of the files in a folder of the store.
    private func files(in name: String) throws(LogError) -> (count: Int, byteCount: UInt64) {
        let folder = path + "/" + name
        return try onDisk("listing reserved files") { () throws(DiskError) in
            guard try directory.disk.isPresent(folder) else { return (0, 0) }
            var sum: (count: Int, byteCount: UInt64) = (0, 0)
            for name in try directory.disk.names(in: folder) {
                do throws(DiskError) {
                    let file = try directory.disk.open(folder + "/" + name, for: .reading)
                    defer { file.close() }
                    sum = (sum.count + 1, sum.byteCount + (try file.byteCount()))
                } catch {
                    // A writer may just have removed it.
                    guard error.code == .notFound else { throw error }
                }
            }
            return sum
        }
    }

    /// Bytes of the existing manifests, for a log that is open for reading.
    private func manifestFileByteCount() throws(LogError) -> UInt64 {
        let names = try onDisk("listing the store's directory") { () throws(DiskError) in
            try directory.disk.names(in: path)
        }
        var sum: UInt64 = 0
        for (kind, number) in names.compactMap(FileName.parse) where kind == .manifest {
            sum += try byteCount(of: kind, number, seal: nil)
        }
        return sum
    }

    /// The process that has the store open for writing, as LOCK describes it; nil if there is none, or this log is the
    /// writer.
    package func otherWriter() throws(LogError) -> String? {
        guard writing == nil, try storeLock.hasWriter() else { return nil }
        return storeLock.owner
    }

    /// A snapshot, the manifest's state when it was the newest, and the ends of the segments that were being written.
    package func settled() throws(LogError) -> (Snapshot, ManifestState, [UInt64: UInt64]) {
        guard let writing, failure == nil else { return (snapshot(), manifestState, found.ends) }
        var ends: [UInt64: UInt64] = [:]
        var settled: (Snapshot, ManifestState)?
        // While no checkpoint runs, nothing is moved or dropped.
        try writing.checkpointer.whileIdle { () throws(LogError) in
            if let cold = writing.checkpointer.compactor.openEnd { ends[cold.number] = cold.end }
            let (request, leads) = writing.sequencer.turn.withLock { writing.sequencer.enqueueBarrier() }
            writing.committer.finish(request, leads: leads)
            if let failure = request.failure { throw failure }
            guard let position = request.position else { throw .closed(path) }
            ends[position.segment.number] = position.offset
            settled = (snapshot(), manifestState)
        }
        guard let settled else { throw .closed(path) }
        return (settled.0, settled.1, ends)
    }

    /// Calls `body` with the manifest's state while no checkpoint runs, unless the log is open for reading.
    package func whileNoCheckpointRuns(_ body: (ManifestState) throws(LogError) -> Void) throws(LogError) {
        guard let checkpointer = writing?.checkpointer else { return }
        try checkpointer.whileIdle { () throws(LogError) in try body(manifestState) }
    }

    var manifestState: ManifestState { writing?.manifest.state ?? found.state }

    private func byteCount(of kind: FileKind, _ number: UInt64, seal: SealedFile?) throws(LogError) -> UInt64 {
        if let seal { return seal.end }
        do { return try directory.disk.byteCount(of: directory.path(kind, number)) } catch {
            // A merge may just have removed it.
            if error.code == .notFound { return 0 }
            throw LogError(error, doing: "measuring a file")
        }
    }

    /// Whether a transaction is in the log.
    ///
    /// This resolves `outcomeUnknown`. Call it after the store was opened again, and before much is written:
    /// transactions of segments that compaction dropped are not found.
    ///
    /// - Complexity: Reads the log from its newest segment backwards until the transaction is found; all of it if it is
    ///   not there.
    package func landed(_ transaction: TransactionID) throws(LogError) -> Bool {
        let snapshot = snapshot()
        for managed in snapshot.files.files.filter({ $0.kind == .hotSegment }).sorted(by: { $0.number > $1.number }) {
            let limit = manifestState.files[managed.number]?.seal?.end
            let length = try onDisk("looking for a transaction") { () throws(DiskError) in try managed.file.byteCount()
            }
            var scanner = FrameScanner(
                managed, from: UInt64(FileHeader.byteCount), previousHead: 0, limit: min(length, limit ?? length))
            while let frame = try scanner.next() {
                guard frame.header.kind == .commit, !frame.header.isContinued,
                    frame.header.sequence <= snapshot.sequence
                else { continue }
                if Replay.closingRecord(frame)?.transaction == transaction { return true }
            }
        }
        return false
    }
}

extension Snapshot {
    /// Calls `body` with every object of a table and its location, ascending.
    package func forEachLocation(
        of table: TableID, _ body: (RecordID, Location) throws(LogError) -> Void
    ) throws(LogError) {
        guard let root = tables[table.rawValue] else { return }
        let copy = UnsafeMutableRawPointer.allocate(byteCount: TablePage.byteCount, alignment: 64)
        defer { copy.deallocate() }
        for page in 0..<root.pageCount {
            guard let handle = root.handle(ofPage: page) else { continue }
            try root.cache.copy(handle, to: copy)
            for entry in 0..<TablePage.entryCount {
                let location = Location(reading: copy + (TablePage.headerByteCount + entry * Location.byteCount))
                if location.isAbsent { continue }
                try body(UInt64(page * TablePage.entryCount + entry) + 1, location)
            }
        }
    }
}
