package import FaultlineDisk
internal import FaultlineLog

/// A state that a store once had, on a disk that shows it: a log can be opened there for reading.
///
/// Nothing is copied or written. The writer of the store does not know of it and is not delayed; files that it removes
/// stay readable until the state is released.
///
/// Memory: the manifest. Descriptors: one for each file of the state.
package struct PastState: Sendable {
    private let shown: PastDisk
    /// The last transaction.
    package let last: BackupMoment

    package var disk: Disk { shown }
    package var directory: String { PastDisk.directory }

    /// Opens no more files: those that a log has open are closed with it.
    package func release() { shown.release() }

    /// Makes a state of shown files: writes manifest and identity of a log that ends at a transaction.
    private init(_ shown: PastDisk, _ end: LogPlace, _ state: ManifestState, _ identity: Identity) throws(LogError) {
        shown.keep(only: Set(state.files.map { FileName.numbered($0.value.kind, $0.key) }))
        shown.cut(FileName.numbered(.hotSegment, end.segment), to: end.offset)
        try AssembledStore.writeManifest(state, newest: end.sequence, in: shown.storeDirectory(identity))
        try AssembledStore.writeIdentity(of: identity, instance: identity.instance, in: PastDisk.directory, on: shown)
        self.shown = shown
        last = BackupMoment(transaction: end.sequence, nanoseconds: end.clockNanoseconds)
    }

    /// A state in the log of a store, which processes may have open.
    ///
    /// - Parameters:
    ///   - store: The directory of the store.
    ///   - disk: Its disk.
    ///   - point: The state: `newest`, a transaction, or a time.
    /// - Throws: `BackupError` of code `notInLog` if the log does not have the state; `LogError` if the store is damaged,
    ///   or cannot be read.
    /// - Complexity: The log from the newest checkpoint to the state; from its beginning for an older state.
    package init(of store: String, on disk: Disk, at point: RestorePoint) throws {
        let store = DirectoryPath.trimmed(store)
        let goal: StateGoal =
            switch point {
            case .newest: .newest
            case .transaction(let sequence): .transaction(sequence)
            case .time(let nanoseconds): .time(nanoseconds)
            case .backup(let number):
                throw BackupError(
                    .notFound, "A store has no backup \(number). Name the directory of backups.", path: store)
            }
        let files = PastFiles(of: store, on: disk)
        let found = try files.stable {
            let opened = try files.open()
            do {
                let cut = try LogCut(goal, opened, store: store)
                return PastFiles.Found(
                    shown: opened.shown, end: cut.end, state: cut.state, identity: opened.identity)
            } catch let error where Self.mayBeRetained(error) {
                do {
                    guard let retained = try files.openRetained(goal) else { throw error }
                    return retained
                } catch let missing as LogError where missing.cause?.code == .notFound {
                    // The window has just passed, or its folder was removed.
                    throw error
                }
            }
        }
        try self.init(found.shown, found.end, found.state, found.identity)
    }

    /// Whether the window may have a state that could not be read from the log: it was compacted, or is damaged.
    private static func mayBeRetained(_ error: any Error) -> Bool {
        (error as? BackupError)?.code == .notInLog || (error as? LogError)?.code == .damaged
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
            let byteCount = try onDisk("opening a file of a backup") { () throws(DiskError) in
                let opened = try disk.open(path, for: .reading)
                shown.show(file.name, opened, byteCount: file.byteCount)
                return try opened.byteCount()
            }
            // A later backup may have made it longer.
            guard byteCount >= file.byteCount else {
                throw BackupError(.damaged, "A file of the backup is too short. \(CutState.remedy)", path: path)
            }
        }
        let cut = try CutState(of: choice, set, identity, in: shown.storeDirectory(identity))
        try self.init(shown, cut.end, cut.state, identity)
    }
}
