import FaultlineDisk

/// Opens a store: finds the manifest in force, reads the checkpoint, replays the log, and settles a torn tail.
///
/// No file of the store is changed before its replacement is durable, so an interrupted opening can be repeated.
struct Opening: ~Copyable {
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
    /// The files that states of the past need; nil if none are kept, and for a reader.
    var retained: RetainedFiles?
    /// Indexes whose entries are rebuilt from the rows; nil means all.
    var indexesToRebuild: Set<IndexID>? = []
    /// Whether the hot segments may not be the whole log any more: then the tables are built from all segments
    /// together.
    var isCompacted = false
    /// For a reader: the manifest that was read, to detect later writes.
    var mark: Follower.ManifestMark?
    /// For a reader: whether another process had the store open for writing at the beginning.
    var isBesideWriter = false
    /// For a reader: whether it read all of the newest segment, because there was no writer.
    var hasReadWithoutLimit = false
    /// For a reader: whether the manifest must not have changed since it was read.
    var needsSameManifest = false
    /// The ends of the unsealed cold segments.
    var coldEnds: [UInt64: Replay.SegmentEnd] = [:]

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
                guard error.code == .fullDisk else { throw error }
                let hasRoom = RetainedFiles.removeAll(in: path, on: disk)
                guard DiskSpace.removeBallast(in: path, on: disk) || hasRoom else { throw error }
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
            disk: disk, path: path, storeID: identity.storeID,
            nextNumber: Self.nextNumber(of: names), random: random)

        if options.access == .writing { directory.own() }
        try notePostings(identity)

        let access: FileAccess = options.access == .writing ? .updating : .reading
        listed = FileName.manifests(among: names)
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
        if options.access == .writing {
            retained = RetainedFiles.open(
                of: directory, names, reading.state, window: options.retention, now: clock.wallNanoseconds())
            directory.unneeded = retained
        }
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
            directory.remove(plan.remove.map { directory.path(of: $0) })
        }
        return try recover(reading, directory, plan)
    }

    // MARK: Identity

    /// Records in IDENTITY that runs of text indexes may have blocks of postings, before the first one is written.
    private func notePostings(_ identity: Identity) throws(LogError) {
        guard options.access == .writing, identity.readCompatible & Feature.textIndexes != 0,
            identity.readCompatible & Feature.postingBlocks == 0
        else { return }
        try IdentityFile.write(identity.adding(readCompatible: Feature.postingBlocks), in: path, on: disk)
    }

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
        return try Creation.create(
            in: path, names: names, on: disk, clock: clock, random: random, storeID: options.storeID)
    }

    private static func nextNumber(of names: [String]) -> UInt64 {
        names.compactMap(FileName.parse).map { $0.number &+ 1 }.max() ?? 1
    }
}
