package import FaultlineDisk
internal import FaultlineLog

/// A state that a store once had, on a disk that shows it: a log can be opened there for reading.
///
/// Nothing is copied or written. The writer of the store does not know of it and is not delayed; files that it removes
/// stay readable until the disk is released.
///
/// Memory: the manifest. Descriptors: one for each file of the state.
package struct PastState {
    package let disk: Disk
    package let directory = PastDisk.directory
    /// The last transaction.
    package let last: BackupMoment

    /// The number of attempts while a writer changes the files that are opened.
    private static let attemptCountMax = 100

    /// A state in the log of a store, which processes may have open.
    ///
    /// - Parameters:
    ///   - store: The directory of the store.
    ///   - disk: Its disk.
    ///   - point: The state: `newest`, a transaction, or a time.
    /// - Throws: `BackupError` of code `notInLog` if the log no longer has the state; `LogError` if the store cannot be
    ///   read.
    /// - Complexity: The log from the newest checkpoint to the state; from its beginning for an older state.
    package init(of store: String, on disk: Disk, at point: RestorePoint) throws {
        let store = DirectoryPath.trimmed(store)
        let goal: StateGoal =
            switch point {
            case .newest: .transaction(.max)
            case .transaction(let sequence): .transaction(sequence)
            case .time(let nanoseconds): .time(nanoseconds)
            case .backup(let number):
                throw BackupError(
                    .notFound, "A store has no backup \(number). Name the directory of backups.", path: store)
            }
        for _ in 0..<Self.attemptCountMax {
            let identity = try IdentityFile.read(store + "/" + FileName.identity, on: disk)
            guard let identity else {
                throw BackupError(.notFound, "There is no store in this directory.", path: store)
            }
            guard let (shown, state) = try Self.openFiles(of: store, identity, on: disk) else { continue }
            let end = try Self.end(goal, state, identity, shown, store)
            try shown.becomeStore(end.place, end.state, identity)
            self.disk = shown
            last = BackupMoment(transaction: end.place.sequence, nanoseconds: end.place.clockNanoseconds)
            return
        }
        throw LogError(
            .lockedByAnother, "Another process changed the store each time that its files were opened. Try again.",
            path: store)
    }

    /// A state in a set of backups, as a restore would make it.
    ///
    /// - Parameters:
    ///   - backups: The directory of the backups.
    ///   - disk: Its disk.
    ///   - point: The state.
    /// - Throws: `BackupError`; `LogError` if the disk fails.
    /// - Complexity: The log from the checkpoint of the backup before the state.
    package init(inBackups backups: String, on disk: Disk, at point: RestorePoint) throws {
        let set = try BackupSet.openForReading(backups, on: disk)
        defer { set.close() }
        let choice = try RestoreChoice(of: point, from: try set.content(), set)
        // The newest one has the features of all segments.
        let newest = choice.later.last ?? choice.base
        let path = set.folder(of: newest.number) + "/" + FileName.identity
        guard let identity = try IdentityFile.read(path, on: disk) else {
            throw BackupError(.damaged, "A file of the backup is missing. \(CutState.remedy)", path: path)
        }
        let shown = PastDisk()
        for (record, file) in choice.files {
            let path = set.path(of: file, in: record)
            try onDisk("opening a file of a backup") { () throws(DiskError) in
                try shown.show(file.name, disk.open(path, for: .reading))
            }
        }
        let cut = try CutState(of: choice, set, identity, in: shown.storeDirectory(identity))
        try shown.becomeStore(cut.end, cut.state, identity)
        self.disk = shown
        last = BackupMoment(transaction: cut.end.sequence, nanoseconds: cut.end.clockNanoseconds)
    }

    /// Opens the files that the manifest in force lists.
    ///
    /// - Returns: Nil if a writer replaced the manifest, or removed a file, meanwhile.
    private static func openFiles(
        of store: String, _ identity: Identity, on disk: Disk
    ) throws(LogError) -> (PastDisk, ManifestState)? {
        let manifests = { () throws(LogError) -> [UInt64] in
            let names = try onDisk("listing the store's directory") { () throws(DiskError) in try disk.names(in: store)
            }
            return FileName.manifests(among: names)
        }
        let listed = try manifests()
        let shown = PastDisk()
        do throws(LogError) {
            let source = try CopiedState(store, identity, on: disk)
            for (number, file) in source.state.files.sorted(by: { $0.key < $1.key }) {
                let name = FileName.numbered(file.kind, number)
                try onDisk("opening a file of the store") { () throws(DiskError) in
                    try shown.show(name, disk.open(store + "/" + name, for: .reading))
                }
            }
            return (shown, source.state)
        } catch {
            let isDoubtful = error.code == .damaged || error.cause?.code == .notFound
            guard isDoubtful, try manifests() != listed else { throw error }
            return nil
        }
    }

    /// Finds the state in the log.
    private static func end(
        _ goal: StateGoal, _ state: ManifestState, _ identity: Identity, _ shown: PastDisk, _ store: String
    ) throws -> (place: LogPlace, state: ManifestState) {
        let directory = shown.storeDirectory(identity)
        let walk = LogWalk(directory, state)
        guard let checkpoint = walk.start() else {
            throw LogError(.damaged, "The manifest lists no segment of the log.", path: store)
        }
        let fromBeginning = goal.isBefore(checkpoint)
        guard let start = walk.start(fromBeginning: fromBeginning), !fromBeginning || walk.isWhole else {
            throw BackupError(
                .notInLog,
                "The log no longer has that state: it begins with transaction \(checkpoint.sequence), because older segments were compacted. Backups may have it.",
                path: store)
        }
        var found = start
        var isComplete = true
        var isMissing = false
        try walk.forEachTransaction(from: start) { (end, placed) throws(LogError) in
            // Values that were deleted later may be gone.
            isComplete = isComplete && placed.allSatisfy { state.files[$0] != nil }
            if goal.has(end) {
                isMissing = !isComplete
                found = end
            }
            return !isMissing && goal.goesOn(behind: end)
        }
        guard !isMissing else {
            throw BackupError(
                .notInLog,
                "The log no longer has that state: large values of it were deleted, and their files compacted. Backups may have it.",
                path: store)
        }
        if case .transaction(let sequence) = goal, sequence != .max, found.sequence != sequence {
            throw BackupError(
                .notInLog, "There is no transaction \(sequence) yet: the newest is \(found.sequence).", path: store)
        }
        let cut = try state.ending(at: found, continuedBy: [], fromBeginning: fromBeginning) {
            (number) throws(LogError) in try directory.byteCount(ofBlobSegment: number)
        }
        guard let cut else { throw LogError(.damaged, "The manifest contradicts itself.", path: store) }
        return (found, cut)
    }
}

extension PastDisk {
    /// The directory, for a store with the identity.
    func storeDirectory(_ identity: Identity) -> StoreDirectory {
        StoreDirectory(
            disk: self, path: Self.directory, storeID: identity.storeID, nextNumber: 1,
            random: RandomSource(seed: nil))
    }

    /// Shows only the files of the state, whose log ends at a place, and writes manifest and identity.
    func becomeStore(_ end: LogPlace, _ state: ManifestState, _ identity: Identity) throws(LogError) {
        keep(only: Set(state.files.map { FileName.numbered($0.value.kind, $0.key) }))
        cut(FileName.numbered(.hotSegment, end.segment), to: end.offset)
        try AssembledStore.writeManifest(state, newest: end.sequence, in: storeDirectory(identity))
        try AssembledStore.writeIdentity(
            of: identity, instance: identity.instance, in: Self.directory, on: self)
    }
}
