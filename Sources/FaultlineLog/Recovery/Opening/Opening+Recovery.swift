import FaultlineDisk

/// Recovery: the checkpoint is read, and the segments behind it are replayed.
extension Opening {
    mutating func recover(
        _ reading: ManifestReader.Reading, _ directory: StoreDirectory, _ plan: Leftovers.Plan
    ) throws(LogError) -> Opened {
        guard !options.ignoresDerivedFiles else { return try recover(reading, directory, plan, usesCheckpoint: false) }
        do throws(LogError) {
            return try recover(reading, directory, plan, usesCheckpoint: true)
        } catch {
            // The replay read a damaged page, although the map of all pages verified.
            guard let name = error.damagedDerivedName else { throw error }
            noteIgnored(name)
            return try recover(reading, directory, plan, usesCheckpoint: false)
        }
    }

    private mutating func recover(
        _ reading: ManifestReader.Reading, _ directory: StoreDirectory, _ plan: Leftovers.Plan, usesCheckpoint: Bool
    ) throws(LogError) -> Opened {
        var files = try openFiles(reading, directory, plan)
        var (tables, start) = try loadTables(&files, usesCheckpoint: usesCheckpoint)
        let state = files.state
        for (table, next) in state.nextIDs.sorted(by: { $0.key < $1.key }) { tables.raiseNextID(of: table, to: next) }
        _ = tables.capture()

        var replay = Replay(
            tables: tables, memtables: IndexReplay(deriver: deriver, budget: cache.budget),
            files: FileTable(files.segments.keys.sorted().compactMap { files.segments[$0] }),
            spill: options.access == .writing
                ? ReplaySpill(directory: directory, cache: cache, blockCache: blockCache) : nil,
            sequence: start.sequence, wallNanoseconds: start.wallNanoseconds, watch: ReplayWatch(options))
        // Without the checkpoint's tables all entries come from the rows, once these are there.
        replay.memtables.derives = start.file != 0
        if start.file == 0, isCompacted { replay.newest = NewestVersions(cache: cache) }
        indexesToRebuild = nil
        try replay.memtables.catalogChanged(replay.tables, replay.files)
        if start.file != 0 { indexesToRebuild = try openRuns(state, directory, &replay) }
        if replay.newest == nil { try replayCold(state, files.segments, &replay) }
        try replaySealed(files, from: start, &replay)
        return try replayEnd(files, from: start, &replay)
    }

    private mutating func openFiles(
        _ reading: ManifestReader.Reading, _ directory: StoreDirectory, _ plan: Leftovers.Plan
    ) throws(LogError) -> OpeningFiles {
        let state = reading.state
        var segments: [UInt64: ManagedFile] = [:]
        for (number, entry) in state.files where entry.kind.isSegment {
            let managed = try directory.open(
                entry, for: options.access == .writing && entry.seal == nil ? .updating : .reading)
            if entry.seal != nil { directory.letRest(managed) }
            segments[number] = managed
        }
        let hot = state.numbers(of: .hotSegment)
        guard let last = hot.last, let lastSegment = segments[last], let lastEntry = state.files[last],
            hot.dropLast().allSatisfy({ state.files[$0]?.seal != nil })
        else {
            throw .damaged("The manifest lists no segment to go on with.", reading.managed.path)
        }
        return OpeningFiles(
            reading: reading, directory: directory, leftovers: plan, segments: segments,
            pageFiles: try openPageFiles(state, directory), hot: hot, last: lastSegment, lastEntry: lastEntry)
    }

    /// Reads the checkpoint's tables, or begins with empty ones at the first segment.
    private mutating func loadTables(
        _ files: inout OpeningFiles, usesCheckpoint: Bool
    ) throws(LogError) -> (WorkingTables, CheckpointPosition) {
        let wallNanoseconds = files.state.checkpoint?.wallNanoseconds ?? 0
        let start = files.state.checkpoint ?? .beginning(of: files.hot, wallNanoseconds)
        var tables = WorkingTables(cache: cache)
        if start.file == 0 { return (tables, start) }
        if usesCheckpoint, try load(start, files.pageFiles, into: &tables) { return (tables, start) }
        noteIgnored(FileName.numbered(.tableCheckpoint, start.file))
        files.pageFiles = [:]
        return (WorkingTables(cache: cache), .beginning(of: files.hot, wallNanoseconds))
    }

    private mutating func replaySealed(
        _ files: OpeningFiles, from start: CheckpointPosition, _ replay: inout Replay
    ) throws(LogError) {
        let last = files.last.number
        for number in files.hot where number >= start.segment && number != last {
            guard let managed = files.segments[number], let file = files.state.files[number], let seal = file.seal
            else {
                continue
            }
            let isFirst = number == start.segment
            replay.skipDropped(before: file.added.begun)
            try replay.replaySealed(
                managed, seal: seal, from: isFirst ? start.offset : UInt64(FileHeader.byteCount),
                previousHead: isFirst ? start.previousHead : 0)
        }
    }

    /// Replays the unsealed segment, and makes the log go on behind its end.
    private mutating func replayEnd(
        _ files: OpeningFiles, from start: CheckpointPosition, _ replay: inout Replay
    ) throws(LogError) -> Opened {
        let (last, entry) = (files.last, files.lastEntry)
        if let seal = entry.seal {
            // A rotation seals it only together with a next one.
            throw .damaged("The newest segment is sealed at \(seal.end).", last.path)
        }
        let isFirst = last.number == start.segment
        let from = isFirst ? start.offset : UInt64(FileHeader.byteCount)
        let fromHead = isFirst ? start.previousHead : 0
        // Read before the log: if a writer comes now, the log only grows.
        let witness = try witness(files.reading, files.segments)
        let limit = try readerLimit(last, from: from, previousHead: fromHead, durable: entry.durable)
        replay.skipDropped(before: entry.added.begun)
        let end = try replay.replayOpen(
            last, from: from, previousHead: fromHead, durable: max(entry.durable, from),
            durableHead: entry.durable > from ? entry.durableHead : fromHead, limit: limit)
        if limit == nil { try judgeTail(witness, replay.sequence, last, end) }
        if replay.newest != nil {
            try replayCold(files.state, files.segments, &replay)
            replay.newest = nil
            _ = replay.tables.capture()
            try replay.memtables.catalogChanged(replay.tables, replay.files)
        }
        report.replayedByteCount = replay.byteCount
        report.replayedTransactionCount = replay.transactionCount
        report.droppedTablePassCount = replay.droppedTablePassCount
        try IndexRebuild.run(indexesToRebuild ?? replay.memtables.indexes(of: replay.tables), &replay)
        report.wasClean = wasClean(files, replay, end)
        files.directory.progress.begin(at: replay.sequence)
        try retained?.remove(behind: replay.sequence)
        guard options.access == .writing else {
            needsSameManifest = needsSameManifest(replay, start)
            return opened(files, replay, end, manifest: nil, blobs: nil)
        }
        return report.wasClean ? try goOn(files, replay, end) : try settle(files, from: start, &replay, end)
    }

    private func wasClean(_ files: OpeningFiles, _ replay: Replay, _ end: Replay.SegmentEnd) -> Bool {
        report.ignoredDerivedFiles.isEmpty && report.lostTail == nil && !files.leftovers.isInterrupted
            && files.state.isClean && files.reading.isWhole
            && end.end == end.length
            && end.end == files.lastEntry.durable && replay.byteCount == 0
            && coldEnds.allSatisfy { $0.value.durable == $0.value.length }
    }
}
