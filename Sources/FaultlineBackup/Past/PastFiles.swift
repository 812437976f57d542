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

    /// The manifests, and the length of the newest: it grows with each edit.
    private func mark() throws(LogError) -> [UInt64] {
        try onDisk("looking at the manifest") { () throws(DiskError) in
            guard try disk.isPresent(store) else { return [] }
            let numbers = FileName.manifests(among: try disk.names(in: store)).sorted()
            guard let newest = numbers.last else { return [] }
            do throws(DiskError) {
                return numbers + [try disk.byteCount(of: store + "/" + FileName.numbered(.manifest, newest))]
            } catch {
                guard error.code == .notFound else { throw error }
                return numbers
            }
        }
    }

    /// Opens the files that the manifest in force lists.
    ///
    /// - Throws: `BackupError` of code `notFound` if there is no store; `LogError`.
    func open() throws -> Opened {
        let path = store + "/" + FileName.identity
        guard let identity = try IdentityFile.read(path, on: disk) else {
            throw BackupError(.notFound, "There is no store in this directory.", path: store)
        }
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
        guard let newer = try IdentityFile.read(path, on: disk) else {
            throw BackupError(.notFound, "There is no store in this directory.", path: store)
        }
        return Opened(shown: shown, state: source.state, identity: newer, durable: durable)
    }

    private func show(
        _ name: String, _ entry: ManifestState.FileEntry, on shown: PastDisk, _ source: CopiedState
    ) throws(LogError) {
        let length = try onDisk("opening a file of the store") { () throws(DiskError) in
            let file = try disk.open(store + "/" + name, for: .reading)
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
