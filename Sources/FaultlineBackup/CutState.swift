internal import FaultlineDisk
internal import FaultlineLog

/// The state of a store whose log ends at a wanted transaction, of a set of backups.
struct CutState {
    /// The end of the log.
    let end: LogPlace
    let state: ManifestState

    static let remedy =
        "Other backups may share the file: restore one that does not have it, or from another directory."

    /// Finds the transaction in the log.
    ///
    /// - Parameters:
    ///   - choice: The backups.
    ///   - set: Their directory.
    ///   - identity: The identity of the newest one.
    ///   - directory: The files of the backups.
    /// - Throws: `BackupError`; `LogError` if the disk fails.
    init(
        of choice: RestoreChoice, _ set: BackupSet, _ identity: Identity, in directory: StoreDirectory
    ) throws {
        let disk = set.disk
        let base = try CopiedState(set.folder(of: choice.base.number), identity, on: disk)
        let later = try choice.later.map { try CopiedState(set.folder(of: $0.number), identity, on: disk).state }
        var all = base.state
        func contradiction() -> BackupError {
            BackupError(
                .damaged, "The manifests of the backups contradict each other. \(Self.remedy)", path: set.directory)
        }
        guard all.add(filesOf: later) else { throw contradiction() }
        let (end, fromBeginning) = try Self.end(of: choice, LogWalk(directory, all), set)
        let state = try base.state.ending(at: end, continuedBy: later, fromBeginning: fromBeginning) {
            (number) throws(LogError) in try directory.byteCount(ofBlobSegment: number)
        }
        guard let state else { throw contradiction() }
        (self.end, self.state) = (end, state)
    }

    /// The place where the log ends.
    private static func end(
        of choice: RestoreChoice, _ walk: LogWalk, _ set: BackupSet
    ) throws -> (LogPlace, fromBeginning: Bool) {
        let fromBeginning = choice.isBeforeCheckpoint(of: walk.start())
        let completeness = choice.completeness
        guard let start = walk.start(fromBeginning: fromBeginning) else {
            throw BackupError(.damaged, "The manifest lists no segment of the log. \(remedy)", path: set.directory)
        }
        let search = try LogSearch(of: choice.goal, in: walk, from: start) { placed, end in
            placed.allSatisfy { completeness[$0] ?? 0 >= end.sequence }
        }
        guard choice.isReached(search) else {
            throw BackupError(
                .notInBackups,
                "The backups have no files for that state: the store was compacted between two of them. The nearest state before it is that after transaction \(search.found.sequence).",
                path: set.directory)
        }
        return (search.found, fromBeginning)
    }
}

extension StoreDirectory {
    /// The length of a blob segment's file.
    func byteCount(ofBlobSegment number: UInt64) throws(LogError) -> UInt64 {
        try onDisk("measuring a file") { () throws(DiskError) in
            try disk.byteCount(of: path(.blobSegment, number))
        }
    }
}
