import FaultlineDisk

/// Opens a store: finds the manifest in force, reads the checkpoint, replays the log, and settles a torn tail.
///
/// No file of the store is changed before its replacement is durable, so an interrupted opening can be repeated.
struct Opening: ~Copyable {
    /// The result of an opening, for the log.
    struct Opened {
        /// Bytes and counted dead bytes of the segments.
        var segmentSpace: SegmentSpace {
            var space = SegmentSpace()
            for (number, file) in state.files where file.kind.isSegment {
                space.setEnd(file.seal?.end ?? file.durable, of: number)
            }
            space.setEnd(end, of: segment.number)
            if let blobs { space.setEnd(blobs.end, of: blobs.managed.number) }
            if let cold { space.setEnd(cold.end, of: cold.managed.number) }
            space.setDead(dead)
            space.setKept(state.files.keys.filter(state.isKept))
            return space
        }
        private var dead: [UInt32: UInt64] {
            var dead = replay.dead
            guard state.checkpoint?.file ?? 0 != 0 else { return dead }
            for (number, file) in state.files where file.total > file.live {
                dead[UInt32(truncatingIfNeeded: number), default: 0] += file.total - file.live
            }
            return dead
        }
        /// Whether there are dead bytes that were not counted.
        var hasUncountedDead: Bool { replay.hasDroppedTable || state.checkpoint?.file == 0 }
        let directory: StoreDirectory
        /// Nil when opened for reading.
        let manifest: Manifest?
        let state: ManifestState
        var replay: Replay
        let segment: ManagedFile
        let end: UInt64
        let head: UInt32
        let blobs: BlobSegment?
        /// The unsealed cold segment, if there is one; for a log that is open for reading, with its valid end.
        let cold: ColdSegment?
        let pageFiles: [UInt64: PageFile]
        let report: OpenReport
        /// For a reader: the manifest that was read; nil if it has changed since.
        var mark: Follower.ManifestMark?
    }

    let path: String
    let disk: Disk
    let clock: Clock
    let options: LogOptions
    let deriver: any IndexDeriver
    let cache: PageCache
    let blockCache: BlockCache
    let lock: StoreLock
    var report = OpenReport()
    /// The manifest that was read; nil before there is one.
    var read: ManifestVersion?
    /// The manifests that were found, and the directory they were read in.
    var listed: [UInt64] = []
    var openedDirectory: StoreDirectory?
    /// Indexes whose entries are rebuilt from the rows; nil means all.
    var indexesToRebuild: Set<IndexID>? = []
    /// Whether the hot segments may not be the whole log any more: then the tables are built from all segments
    /// together.
    private var isCompacted = false
    /// For a reader: the manifest that was read, to detect later writes.
    var mark: Follower.ManifestMark?
    /// For a reader: whether another process had the store open for writing at the beginning.
    var isBesideWriter = false
    /// For a reader: whether it read all of the newest segment, because there was no writer.
    var hasReadWithoutLimit = false
    /// For a reader: whether the manifest must not have changed since it was read.
    var needsSameManifest = false
    /// The ends of the unsealed cold segments.
    private(set) var coldEnds: [UInt64: Replay.SegmentEnd] = [:]

    init(
        path: String, disk: Disk, clock: Clock, options: LogOptions, deriver: any IndexDeriver, cache: PageCache,
        blockCache: BlockCache, lock: StoreLock
    ) {
        self.path = path
        self.disk = disk
        self.clock = clock
        self.options = options
        self.deriver = deriver
        self.cache = cache
        self.blockCache = blockCache
        self.lock = lock
    }

    /// Opens or creates the store.
    ///
    /// Beside a writer files appear and disappear: `docs/FileFormat.md` section 16.
    consuming func run() throws(LogError) -> Opened {
        guard options.access == .reading else {
            do throws(LogError) {
                return try attempt()
            } catch {
                guard error.code == .fullDisk, DiskSpace.removeBallast(in: path, on: disk) else { throw error }
            }
            report = OpenReport()
            indexesToRebuild = []
            return try attempt(removesLeftoversFirst: true)
        }
        return try runBesideWriters()
    }

    mutating func attempt(removesLeftoversFirst: Bool = false) throws(LogError) -> Opened {
        let random = RandomSource(seed: options.seed)
        let identity = try identify(random)
        let names = try onDisk("listing the store's directory") { () throws(DiskError) in try disk.names(in: path) }
        let directory = StoreDirectory(
            disk: disk, path: path, storeID: StoreID(high: identity.storeHigh, low: identity.storeLow),
            nextNumber: Self.nextNumber(of: names), random: random)

        let access: FileAccess = options.access == .writing ? .updating : .reading
        listed = Self.manifests(among: names)
        openedDirectory = directory
        guard let reading = try ManifestReader.newest(listed, in: directory, for: access) else {
            throw .damaged("The store has no manifest.", path)
        }
        read = ManifestVersion(reading)
        if options.access == .reading { mark = try Follower.ManifestMark(reading) }
        // Beside a writer IDENTITY is read again: this manifest may be from after the first compaction.
        let compacted = options.access == .reading ? try identify(random) : identity
        isCompacted = compacted.incompatible & Feature.compaction != 0
        directory.raiseNextFileNumber(to: reading.state.nextFileNumber)
        let plan: Leftovers.Plan
        if options.access == .writing {
            plan = try Leftovers.plan(names, in: directory, state: reading.state, manifest: reading.managed.number)
        } else {
            // Beside a writer a file may exist before its edit.
            if !isBesideWriter {
                try Leftovers.refuseLostEdits(
                    names, in: directory, state: reading.state, manifest: reading.managed.number)
            }
            plan = Leftovers.Plan()
        }

        if removesLeftoversFirst {
            // The remains of the first attempt take space that the second needs.
            for name in plan.remove { directory.remove(directory.path(of: name)) }
        }
        return try recover(reading, directory, plan)
    }

    // MARK: Identity

    private mutating func identify(_ random: RandomSource) throws(LogError) -> Identity {
        if let identity = try IdentityFile.read(path + "/" + FileName.identity, on: disk) {
            let unknown = identity.readCompatible & ~FormatVersion.knownReadCompatible
            guard unknown == 0 || options.access == .reading else {
                throw LogError(
                    .readOnly,
                    "The store has \(Feature.names(unknown, Feature.readCompatible)), which this version can only "
                        + "read. Open it for reading, or with a newer version.",
                    path: path)
            }
            return identity
        }
        let names = try onDisk("listing the store's directory") { () throws(DiskError) in try disk.names(in: path) }
        guard options.access == .writing else {
            throw LogError(
                .notAStore, "There is no store in this directory. Open it for writing to create one.", path: path)
        }
        report.wasCreated = true
        return try Creation.create(in: path, names: names, on: disk, clock: clock, random: random)
    }

    /// The manifests among file names.
    static func manifests(among names: [String]) -> [UInt64] {
        names.compactMap(FileName.parse).filter { $0.kind == .manifest }.map(\.number)
    }

    private static func nextNumber(of names: [String]) -> UInt64 {
        names.compactMap(FileName.parse).map { $0.number &+ 1 }.max() ?? 1
    }

    // MARK: Recovery

    private mutating func recover(
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

    private mutating func noteIgnored(_ name: String) {
        if !report.ignoredDerivedFiles.contains(name) { report.ignoredDerivedFiles.append(name) }
    }

    private mutating func recover(
        _ reading: ManifestReader.Reading, _ directory: StoreDirectory, _ plan: Leftovers.Plan, usesCheckpoint: Bool
    ) throws(LogError) -> Opened {
        let state = reading.state
        var segments: [UInt64: ManagedFile] = [:]
        for (number, entry) in state.files where entry.kind.isSegment {
            segments[number] = try directory.open(
                entry, for: options.access == .writing && entry.seal == nil ? .updating : .reading)
        }
        let files = FileTable(segments.keys.sorted().compactMap { segments[$0] })
        let hot = state.numbers(of: .hotSegment)
        guard let last = hot.last, let lastSegment = segments[last],
            hot.dropLast().allSatisfy({ state.files[$0]?.seal != nil })
        else {
            throw .damaged("The manifest lists no segment to go on with.", reading.managed.path)
        }
        let pageFiles = try openPageFiles(state, directory)

        let wallNanoseconds = state.checkpoint?.wallNanoseconds ?? 0
        var start = state.checkpoint ?? Self.beginning(hot, wallNanoseconds)
        var tables = WorkingTables(cache: cache)
        var isLoaded = start.file == 0
        if !isLoaded, usesCheckpoint { isLoaded = try load(start, pageFiles, into: &tables) }
        if !isLoaded {
            noteIgnored(FileName.numbered(.tableCheckpoint, start.file))
            tables = WorkingTables(cache: cache)
            start = Self.beginning(hot, wallNanoseconds)
        }
        for (table, next) in state.nextIDs.sorted(by: { $0.key < $1.key }) { tables.raiseNextID(of: table, to: next) }
        _ = tables.capture()

        var replay = Replay(
            tables: tables, memtables: IndexReplay(deriver: deriver, budget: cache.budget), files: files,
            spill: options.access == .writing
                ? ReplaySpill(directory: directory, cache: cache, blockCache: blockCache) : nil,
            sequence: start.sequence, wallNanoseconds: start.wallNanoseconds, watch: ReplayWatch(options))
        // Without the checkpoint's tables all entries come from the rows, once these are there.
        replay.memtables.derives = start.file != 0
        if start.file == 0, isCompacted { replay.newest = NewestVersions(cache: cache) }
        indexesToRebuild = nil
        try replay.memtables.catalogChanged(replay.tables, files)
        if start.file != 0 { indexesToRebuild = try openRuns(state, directory, &replay) }
        if replay.newest == nil { try replayCold(state, segments, &replay) }
        for number in hot where number >= start.segment && number != last {
            guard let managed = segments[number], let file = state.files[number], let seal = file.seal else { continue }
            let isFirst = number == start.segment
            replay.skipDropped(before: file.added.begun)
            try replay.replaySealed(
                managed, seal: seal, from: isFirst ? start.offset : UInt64(FileHeader.byteCount),
                previousHead: isFirst ? start.previousHead : 0)
        }
        return try finish(
            reading, directory, plan, &replay, lastSegment, segments, isLoaded ? pageFiles : [:], start)
    }

    private mutating func finish(
        _ reading: ManifestReader.Reading, _ directory: StoreDirectory, _ plan: Leftovers.Plan, _ replay: inout Replay,
        _ last: ManagedFile, _ segments: [UInt64: ManagedFile], _ pageFiles: [UInt64: PageFile],
        _ start: CheckpointPosition
    ) throws(LogError) -> Opened {
        let state = reading.state
        guard let entry = state.files[last.number] else {
            throw .damaged("The manifest contradicts itself.", reading.managed.path)
        }
        let isFirst = last.number == start.segment
        let from = isFirst ? start.offset : UInt64(FileHeader.byteCount)
        let fromHead = isFirst ? start.previousHead : 0
        if let seal = entry.seal {
            // A rotation seals it only together with a next one.
            throw .damaged("The newest segment is sealed at \(seal.end).", last.path)
        }
        // Read before the log: if a writer comes now, the log only grows.
        let witness = try witness(reading, segments)
        let limit = try readerLimit(last, from: from, previousHead: fromHead, durable: entry.durable)
        replay.skipDropped(before: entry.added.begun)
        let end = try replay.replayOpen(
            last, from: from, previousHead: fromHead, durable: max(entry.durable, from),
            durableHead: entry.durable > from ? entry.durableHead : fromHead, limit: limit)
        if limit == nil { try judgeTail(witness, replay.sequence, last, end) }
        if replay.newest != nil {
            try replayCold(state, segments, &replay)
            replay.newest = nil
            _ = replay.tables.capture()
            try replay.memtables.catalogChanged(replay.tables, replay.files)
        }
        let cold = openCold(state, segments)
        report.replayedByteCount = replay.byteCount
        report.replayedTransactionCount = replay.transactionCount
        try IndexRebuild.run(indexesToRebuild ?? replay.memtables.indexes(of: replay.tables), &replay)
        report.wasClean =
            report.ignoredDerivedFiles.isEmpty && report.lostTail == nil && !plan.isInterrupted && state.isClean
            && reading.isWhole
            && end.end == end.length
            && end.end == entry.durable && replay.byteCount == 0
            && coldEnds.allSatisfy { $0.value.durable == $0.value.length }

        directory.progress.begin(at: replay.sequence)
        guard options.access == .writing else {
            needsSameManifest = needsSameManifest(replay, start)
            return Opened(
                directory: directory, manifest: nil, state: state, replay: replay, segment: last, end: end.end,
                head: end.head,
                blobs: nil, cold: cold, pageFiles: pageFiles, report: report)
        }
        if report.wasClean {
            if !plan.isEmpty { try Manifest.makeDurable(reading.managed, in: directory) }
            try Manifest.removeSuperseded(plan.superseded, in: directory)
            Leftovers.carryOut(plan, in: directory, report: &report)
            let manifest = Manifest(continuing: reading, in: directory, rotation: Manifest.Rotation(options))
            return Opened(
                directory: directory, manifest: manifest, state: state, replay: replay, segment: last, end: end.end,
                head: end.head,
                blobs: try Self.openBlobs(state, segments, directory.progress), cold: cold, pageFiles: pageFiles,
                report: report)
        }

        let behind = replay.transactions(behind: end.durable)
        report.rescuedTransactionCount = behind.count
        report.discardedByteCount = end.length > end.end ? end.length - end.end : 0
        let rescued = try TailRescue.rescue(
            behind, from: last, durable: end.durable, tables: &replay.tables, in: directory)
        var next = state
        var edits: [ManifestEdit] = [
            .fileSealed(
                SealedFile(
                    number: last.number, end: end.durable, chain: end.durableHead,
                    firstSequence: entry.added.begun + 1,
                    lastSequence: Self.lastSequence(
                        in: last, through: end.durable, before: behind, newest: replay.sequence))),
            rescued.segment.addition(begun: behind.first.map { $0.record.sequence - 1 } ?? replay.sequence),
            .durable(file: rescued.segment.number, offset: rescued.end, head: rescued.head),
        ]
        edits += sealEdits(state, replay) + restartEdits(state, replay, start)
        for edit in edits where !next.apply(edit) {
            throw .damaged("The manifest contradicts itself.", reading.managed.path)
        }
        let manifest = try Manifest(
            next, in: directory, rotation: Manifest.Rotation(options),
            replacing: reading.predecessor, superseded: plan.superseded)
        for managed in segments.values where state.files[managed.number]?.seal == nil { managed.releaseReserve() }
        replay.files = replay.files.adding(rescued.segment)
        // Files that the new manifest no longer lists are not read any more.
        var plan = plan
        plan.remove += state.files.values.filter { next.files[$0.added.number] == nil }.map {
            FileName.numbered($0.kind, $0.added.number)
        }.sorted()
        Leftovers.carryOut(plan, in: directory, report: &report)
        return Opened(
            directory: directory, manifest: manifest, state: manifest.state, replay: replay, segment: rescued.segment,
            end: rescued.end,
            head: rescued.head, blobs: nil, cold: nil, pageFiles: pageFiles, report: report)
    }

    // MARK: Cold segments

    /// Replays the moves that the tables lack, or all records of the cold segments.
    private mutating func replayCold(
        _ state: ManifestState, _ segments: [UInt64: ManagedFile], _ replay: inout Replay
    ) throws(LogError) {
        coldEnds.removeAll()
        for number in state.numbers(of: .coldSegment) {
            guard let managed = segments[number], let entry = state.files[number] else { continue }
            let whole = MovePosition(segment: number)
            var end = (offset: entry.durable, head: entry.durableHead)
            if entry.seal == nil {
                let found = try Replay.durableEnd(
                    of: managed, from: entry.moves ?? whole, durable: (entry.durable, entry.durableHead))
                coldEnds[number] = found
                end = (found.durable, found.durableHead)
            }
            guard let position = replay.newest == nil ? entry.moves : whole else { continue }
            try replay.replayCold(managed, from: position, end: end.offset, chain: end.head)
        }
    }

    /// The cold segment to continue.
    private func openCold(_ state: ManifestState, _ segments: [UInt64: ManagedFile]) -> ColdSegment? {
        guard let number = state.numbers(of: .coldSegment).last, let entry = state.files[number],
            let end = coldEnds[number], let managed = segments[number]
        else { return nil }
        return ColdSegment(managed, begun: entry.added.begun, end: end.durable, previousHead: end.durableHead)
    }

    // MARK: Checkpoint

    /// Opens the runs of all indexes of the tables.
    ///
    /// - Returns: The indexes with a run that does not verify.
    private mutating func openRuns(
        _ state: ManifestState, _ directory: StoreDirectory, _ replay: inout Replay
    ) throws(LogError) -> Set<IndexID> {
        let tables = replay.tables
        let cache = blockCache
        var damaged: Set<IndexID> = []
        var ignored: [String] = []
        try replay.memtables.openRuns(of: tables) { (definition) throws(LogError) in
            // Newest first: levels rise with age, and file numbers fall within a level.
            let entries = state.runs.filter { $0.index == definition.id.rawValue }
                .sorted { ($0.level, $1.file) < ($1.level, $0.file) }
            var runs: [Run] = []
            for entry in entries {
                do throws(LogError) {
                    guard let file = state.files[entry.file] else { continue }
                    let managed = try directory.open(file, for: .reading)
                    guard !file.isDamaged else {
                        throw LogError.damagedRun(managed.path, at: 0, "a block did not verify when it was read")
                    }
                    runs.append(try RunStore.open(managed, definition, in: directory, cache: cache))
                } catch {
                    guard error.code == .damaged else { throw error }
                    damaged.insert(definition.id)
                    ignored.append(FileName.numbered(.indexRun, entry.file))
                }
            }
            return runs
        }
        for name in ignored { noteIgnored(name) }
        return damaged
    }

    private mutating func openPageFiles(
        _ state: ManifestState, _ directory: StoreDirectory
    ) throws(LogError) -> [UInt64: PageFile] {
        var files: [UInt64: PageFile] = [:]
        for (number, entry) in state.files.sorted(by: { $0.key < $1.key }) where entry.kind == .tableCheckpoint {
            do throws(LogError) {
                let managed = try directory.open(entry, for: .reading)
                let length = try onDisk("reading a checkpoint") { () throws(DiskError) in try managed.file.byteCount() }
                guard !entry.isDamaged,
                    let footer = try CheckpointReader.readFooter(managed, length: length)
                else {
                    noteIgnored(FileName.numbered(.tableCheckpoint, number))
                    continue
                }
                files[number] = PageFile(managed, pageCount: Int(footer.pageCount))
            } catch {
                guard error.code == .damaged else { throw error }
                // It is derived: the tables can be rebuilt.
                noteIgnored(FileName.numbered(.tableCheckpoint, number))
            }
        }
        return files
    }

    private func load(
        _ checkpoint: CheckpointPosition, _ files: [UInt64: PageFile], into tables: inout WorkingTables
    ) throws(LogError) -> Bool {
        guard let newest = files[checkpoint.file] else { return false }
        var byKey: [UInt32: PageFile] = [:]
        for (number, file) in files { byKey[UInt32(truncatingIfNeeded: number)] = file }
        return try CheckpointReader.read(newest, files: byKey, into: &tables)
    }
}
