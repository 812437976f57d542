internal import FaultlineDisk
internal import FaultlineLog

/// Opens the files of a store, which a process may be writing.
struct PastFiles {
    private let store: String
    private let disk: Disk

    /// The number of attempts while a writer changes the files.
    private static let attemptCountMax = 100
    /// The number of attempts to find a state that a log lacks: it may have come meanwhile.
    private static let searchCountMax = 10

    init(of store: String, on disk: Disk) {
        self.store = store
        self.disk = disk
    }

    /// The files of a manifest, and a lower bound for the end of their log.
    struct Opened {
        let shown: PastDisk
        let state: ManifestState
        let identity: Identity
        /// The newest transaction that was known to be durable before the files were opened.
        let durable: UInt64
    }

    /// Repeats a reading of the files that failed because a writer changed them.
    ///
    /// - Throws: The error of `body`, if the manifest did not change meanwhile.
    func stable<R>(_ body: () throws -> R) throws -> R {
        for attempt in 1...Self.attemptCountMax {
            let before = try mark()
            do { return try body() } catch {
                guard Self.isDoubtful(error, attempt), try mark() != before else { throw error }
            }
        }
        throw LogError(
            .lockedByAnother, "Another process changed the store each time that it was read. Try again.", path: store)
    }

    /// Whether a changing manifest may be the cause of an error.
    private static func isDoubtful(_ error: any Error, _ attempt: Int) -> Bool {
        if let error = error as? LogError { return error.code == .damaged || error.cause?.code == .notFound }
        return (error as? BackupError)?.code == .notInLog && attempt < searchCountMax
    }

    /// The manifests, the length of the newest, which grows with each edit, and the listings of past states.
    private func mark() throws(LogError) -> [UInt64] {
        try onDisk("looking at the manifest") { () throws(DiskError) in
            guard try disk.isPresent(store) else { return [] }
            let numbers = FileName.manifests(among: try disk.names(in: store)).sorted()
            guard let newest = numbers.last else { return [] }
            let retained = store + "/" + FileName.retained
            let listings =
                try disk.isPresent(retained) ? FileName.manifests(among: try disk.names(in: retained)).sorted() : []
            do throws(DiskError) {
                let byteCount = try disk.byteCount(of: store + "/" + FileName.numbered(.manifest, newest))
                return numbers + [byteCount] + listings
            } catch {
                guard error.code == .notFound else { throw error }
                return numbers + listings
            }
        }
    }

    private func identity() throws -> Identity {
        guard let identity = try IdentityFile.read(store + "/" + FileName.identity, on: disk) else {
            throw BackupError(.notFound, "There is no store in this directory.", path: store)
        }
        return identity
    }

    /// A state that the window of past states has.
    struct Found {
        let shown: PastDisk
        let end: LogPlace
        let state: ManifestState
        let identity: Identity
    }

    /// Opens the files of a state that the manifest in force does not have any more.
    ///
    /// - Returns: Nil if the window does not have it either.
    /// - Throws: `LogError` if a listing of the window, or a file, is damaged; disk errors.
    func openRetained(_ goal: StateGoal) throws -> Found? {
        var damage: LogError?
        // Before the manifest: a file is in a listing, or in the manifest.
        let identity = try identity()
        let source = try CopiedState(store, identity, on: disk)
        let durable = try source.newestDurable()
        let listings = try RetainedListing.all(in: source.directory.retainedFolder()) { damage = damage ?? $1 }
        let shown = PastDisk()
        let log = try RetainedLog(goal, listings, source.state, in: source.directory)
        let found = try log?.find(goal, on: shown, identity, durable: durable) { (entry, number) throws(LogError) in
            try show(FileName.numbered(entry.kind, number), entry, on: shown, source)
        }
        if let found { return Found(shown: shown, end: found.end, state: found.state, identity: identity) }
        if let damage { throw damage }
        return nil
    }

    /// Opens the files that the manifest in force lists.
    ///
    /// - Throws: `BackupError` of code `notFound` if there is no store; `LogError`.
    func open() throws -> Opened {
        let identity = try identity()
        let source = try CopiedState(store, identity, on: disk)
        let durable = try source.newestDurable()
        let shown = PastDisk()
        // Records move to cold segments after their transactions, and values are written before theirs.
        let order: [FileKind] = [.coldSegment, .hotSegment, .blobSegment]
        let files = source.state.files.sorted { first, second in
            func place(_ kind: FileKind) -> Int { order.firstIndex(of: kind) ?? order.count }
            let places = (place(first.value.kind), place(second.value.kind))
            return places.0 == places.1 ? first.key < second.key : places.0 < places.1
        }
        for (number, entry) in files { try show(FileName.numbered(entry.kind, number), entry, on: shown, source) }
        // Read again: the manifest may be from after the first compaction.
        return Opened(shown: shown, state: source.state, identity: try self.identity(), durable: durable)
    }

    /// Opens a file, which may just be going to the files that only past states need.
    private func open(_ name: String) throws(DiskError) -> DiskFile {
        do throws(DiskError) { return try disk.open(store + "/" + name, for: .reading) } catch {
            guard error.code == .notFound else { throw error }
        }
        let retained = store + "/" + FileName.retained + "/" + name
        guard try disk.isPresent(retained) else { return try disk.open(store + "/" + name, for: .reading) }
        return try disk.open(retained, for: .reading)
    }

    private func show(
        _ name: String, _ entry: ManifestState.FileEntry, on shown: PastDisk, _ source: CopiedState
    ) throws(LogError) {
        let length = try onDisk("opening a file of the store") { () throws(DiskError) in
            let file = try open(name)
            let length = try file.byteCount()
            shown.show(name, file, byteCount: length)
            return length
        }
        guard entry.seal == nil, entry.kind == .hotSegment || entry.kind == .coldSegment else { return }
        // A use of its own: the search closes the file that it reads.
        let file = try onDisk("opening a file of the store") { () throws(DiskError) in
            try shown.open(PastDisk.directory + "/" + name, for: .reading)
        }
        let managed = source.directory.managed(file, try StoreDirectory.readHeader(of: file))
        shown.cut(name, to: try SegmentEnd.find(in: managed, entry, length: length))
    }
}

extension PastDisk {
    /// The directory, for a store with the identity.
    func storeDirectory(_ identity: Identity) -> StoreDirectory {
        StoreDirectory(
            disk: self, path: Self.directory, storeID: identity.storeID, nextNumber: 1,
            random: RandomSource(seed: nil))
    }
}
