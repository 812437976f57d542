package import FaultlineDisk
internal import FaultlineLog

/// Makes one backup of a store, while processes have the store open.
///
/// A copy beside the store holds its state, by links to the files that do not change any more; these are copied from
/// there into the directory of the backups, and verified as they are read. The writer does not know of it.
package struct BackupWriter {
    private let store: String
    private let disk: Disk
    private let clock: Clock
    private let options: BackupOptions

    /// - Parameters:
    ///   - store: The directory of the store.
    ///   - disk: The disk of the store and of the backups.
    ///   - clock: The clock for the time of the backup and for its rate.
    ///   - options: How it is made.
    package init(of store: String, on disk: Disk, clock: Clock, options: BackupOptions) {
        self.store = DirectoryPath.trimmed(store)
        self.disk = disk
        self.clock = clock
        self.options = options
    }

    /// Makes a backup; durable when this returns.
    ///
    /// - Parameter directory: The directory of the backups, whose parent exists.
    /// - Returns: The backup, and the bytes that were copied.
    /// - Throws: `BackupError`; `LogError` if the store cannot be read, or a file cannot be written: then the backups
    ///   that were there are as before.
    /// - Complexity: The bytes that changed since the last backup, and those of the large values' open segment.
    package func write(to directory: String) throws -> BackupReport {
        let isStore = try onDisk("looking for the store") { () throws(DiskError) in
            try disk.isPresent(store + "/" + FileName.identity)
        }
        guard isStore else { throw BackupError(.notFound, "There is no store in this directory.", path: store) }
        try refuseOwnDirectory(directory)
        let set = try BackupSet.openForWriting(directory, on: disk)
        defer { set.close() }
        let content = try set.content()
        guard content.finished.isEmpty && content.faults.isEmpty || options.isIncremental else {
            throw BackupError(
                .unsuitable,
                "The directory holds backups already. Add to them by an incremental backup (isIncremental, --incremental), or choose another directory.",
                path: set.directory)
        }
        do {
            let durable = try newestDurable()
            let copy = try StoreCopy.make(
                of: store, for: .backup, on: disk, clock: clock, checksSpace: options.checksSpace)
            defer { copy.remove() }
            for number in content.unfinished { try set.removeFolder(of: number) }
            return try write(copy.directory, to: set, content, durable: durable)
        } catch let error as StoreCopyError {
            throw BackupError(error, path: store)
        } catch let error as LogError {
            throw BackupError(damage: error, of: store) ?? error
        }
    }

    /// A backup inside the store, or in the place of its copy, would be one of itself.
    private func refuseOwnDirectory(_ directory: String) throws {
        let directory = DirectoryPath.trimmed(directory)
        let copies = [StoreCopyPurpose.dryRun, .backup].map { store + $0.suffix }
        let isOwn = try onDisk("looking for the directory of the backups") { () throws(DiskError) in
            var own = [try disk.identity(of: store)]
            for path in copies where try disk.isPresent(path) { own.append(try disk.identity(of: path)) }
            for path in [directory, DirectoryPath.parent(of: directory)] where try disk.isPresent(path) {
                if own.contains(try disk.identity(of: path)) { return true }
            }
            return copies.contains(directory)
        }
        guard isOwn else { return }
        throw BackupError(
            .unsuitable, "A backup cannot be in the directory of its store or of a copy of it. Choose another one.",
            path: directory)
    }

    /// The newest transaction that files of the store prove to be durable, before it is copied.
    ///
    /// - Returns: 0 if a writer replaced the files each time that they were read.
    private func newestDurable() throws -> UInt64 {
        guard let identity = try IdentityFile.read(store + "/" + FileName.identity, on: disk) else { return 0 }
        for _ in 0..<3 {
            do throws(LogError) {
                return try CopiedState(store, identity, on: disk).newestDurable()
            } catch {
                guard error.code == .damaged else { throw error }
            }
        }
        return 0
    }

    private func write(
        _ copy: String, to set: BackupSet, _ content: BackupSet.Content, durable: UInt64
    ) throws -> BackupReport {
        let earlier = content.finished
        let begun = clock.wallNanoseconds()
        guard let identity = try IdentityFile.read(copy + "/" + FileName.identity, on: disk) else {
            throw StoreCopyError.removed(copy, .backup)
        }
        let source = try CopiedState(copy, identity, on: disk)
        try refuseOther(identity, than: earlier.last, set)
        let end = try source.end()
        guard end.sequence >= durable else {
            throw BackupError(
                .damaged,
                "The log ends behind transaction \(end.sequence), and transaction \(durable) had been synchronized, so no backup was made. Open the store for the number of missing ones, and restore it from an earlier backup, or repair it.",
                path: store)
        }
        let number = content.newest + 1
        try set.makeFolder(of: number)
        var files = try CopiedFiles(source, to: set, number: number, earlier, CopiedBytes(disk, clock, options))
        if options.checksSpace { try checkSpace(files.missingByteCount, set) }
        let lists = try files.copyAll()
        let record = BackupRecord(
            format: BackupRecord.format, number: number, nanoseconds: begun,
            store: BackupRecord.text(of: source.storeID), instance: BackupRecord.text(of: identity.instance),
            first: try source.first(after: earlier.last, begun: begun), end: end, manifest: lists.manifest,
            identity: lists.identity, files: lists.files)
        try set.finish(record)
        let removed = try removeOld(content, keeping: record, set)
        return BackupReport(
            backup: record.backup, fileCount: lists.files.count, copiedFileCount: files.copiedFileCount,
            copiedByteCount: files.copiedByteCount, removed: removed)
    }

    private func refuseOther(_ identity: Identity, than last: BackupRecord?, _ set: BackupSet) throws {
        guard let last else { return }
        let store = BackupRecord.text(of: identity.storeID)
        guard last.store == store else {
            throw BackupError(
                .otherStore, "The directory holds backups of another store. Choose another one.", path: set.directory)
        }
        guard last.instance == BackupRecord.text(of: identity.instance) else {
            throw BackupError(
                .otherStore,
                "The directory holds backups of another copy of this store: this one was restored since, so their transactions differ. Choose another directory.",
                path: set.directory)
        }
    }

    private func checkSpace(_ needed: UInt64, _ set: BackupSet) throws {
        let free = try onDisk("measuring the free space") { () throws(DiskError) in
            try disk.freeByteCount(in: set.directory)
        }
        guard needed > free else { return }
        throw BackupError(
            .fullDisk,
            "The backup needs \(needed) bytes of disk; \(free) are free. Make room, or leave the check out (checksSpace, --skip-space-check).",
            path: set.directory)
    }

    private func removeOld(
        _ content: BackupSet.Content, keeping record: BackupRecord, _ set: BackupSet
    ) throws -> [Int] {
        let earlier = content.finished
        let old = earlier.prefix(max(earlier.count + 1 - max(options.keeps ?? .max, 1), 0))
        for record in old { try set.removeFolder(of: record.number) }
        // The files of a backup whose list does not verify are not known.
        if content.faults.isEmpty { try set.removeSharedFiles(except: earlier.dropFirst(old.count) + [record]) }
        return old.map(\.number)
    }
}
