package import FaultlineDisk
internal import FaultlineLog

/// Makes a store from a set of backups.
///
/// The files are copied beside the destination, their checksums compared, the log cut behind the wanted transaction, and
/// the directory renamed: an interrupted restore leaves no store.
package struct Restorer {
    private let directory: String
    private let disk: Disk
    private let clock: Clock
    private let options: BackupOptions

    private static let suffix = ".restoring"

    /// - Parameters:
    ///   - directory: The directory of the backups.
    ///   - disk: The disk of the backups and of the destination.
    ///   - clock: The clock for the rate.
    ///   - options: The rate and the progress; the rest is for backups.
    package init(from directory: String, on disk: Disk, clock: Clock, options: BackupOptions = .restoring) {
        self.directory = directory
        self.disk = disk
        self.clock = clock
        self.options = options
    }

    /// The finished backups of the directory, ascending, but for those whose list does not verify.
    ///
    /// - Throws: `BackupError`, also if no list verifies; `LogError` if the disk fails.
    package func backups() throws -> [Backup] {
        let set = try BackupSet.openForReading(directory, on: disk)
        defer { set.close() }
        let content = try set.content()
        guard content.finished.isEmpty, let fault = content.faults.first else { return content.finished.map(\.backup) }
        throw fault.error
    }

    /// Makes the store; durable when this returns.
    ///
    /// - Parameters:
    ///   - destination: Its directory, which does not exist yet or is empty.
    ///   - point: The state.
    /// - Returns: The last transaction, and the bytes that were copied.
    /// - Throws: `BackupError`; `LogError` if the disk fails: then there is no store at the destination.
    /// - Complexity: The bytes of the backup; for a state between two backups also the segments of the later ones.
    package func restore(to destination: String, at point: RestorePoint) throws -> RestoreReport {
        let set = try BackupSet.openForReading(directory, on: disk)
        defer { set.close() }
        let choice = try RestoreChoice(of: point, from: try set.content(), set)
        let destination = DirectoryPath.trimmed(destination)
        try refuseUsed(destination, set)
        let work = destination + Self.suffix
        let lock = try claim(work)
        defer { lock.release() }
        do {
            let report = try fill(work, choice, set)
            try publish(work, at: destination)
            return report
        } catch {
            // The next restore removes the rest.
            try? clear(work)
            try? disk.remove(work + "/" + FileName.lock)
            try? disk.removeDirectory(work)
            throw error
        }
    }

    // MARK: The directories

    /// Removes an empty directory at the destination: one that cannot be removed would refuse the store at the end.
    private func refuseUsed(_ destination: String, _ set: BackupSet) throws {
        let isUsed = try onDisk("looking at the destination") { () throws(DiskError) in
            let parent = DirectoryPath.parent(of: destination)
            if try disk.isPresent(parent), try disk.identity(of: parent) == disk.identity(of: set.directory) {
                return true
            }
            guard try disk.isPresent(destination) else { return false }
            do throws(DiskError) {
                guard try disk.names(in: destination).isEmpty else { return true }
            } catch {
                guard error.code == .notDirectory else { throw error }
                return true
            }
            try disk.removeDirectory(destination)
            return false
        }
        guard isUsed else { return }
        throw BackupError(
            .unsuitable,
            "There are files at the destination, or it is among the backups: a restore never overwrites. Choose another directory.",
            path: destination)
    }

    private func claim(_ work: String) throws -> StoreLock {
        try onDisk("making the directory of a restore") { () throws(DiskError) in
            if try !disk.isPresent(work) {
                try disk.createDirectory(work)
                disk.restrictToOwner(work)
            }
        }
        // Checked first: taking the lock makes a file.
        _ = try names(in: work)
        let lock: StoreLock
        do throws(LogError) {
            lock = try StoreLock.take(work + "/" + FileName.lock, on: disk, for: .writing, clock: clock)
        } catch {
            guard error.code == .lockedByAnother else { throw error }
            throw BackupError(
                .underWay, "Another restore to this place is under way. Wait until it has ended.", path: work)
        }
        do {
            try clear(work)
            return lock
        } catch {
            lock.release()
            throw error
        }
    }

    private func names(in work: String) throws -> [String] {
        let names = try onDisk("listing the directory of a restore") { () throws(DiskError) in
            try disk.names(in: work)
        }
        if let foreign = names.first(where: { !FileName.isOfStore($0) }) {
            throw BackupError(
                .unsuitable, "A restore needs this directory, which holds files of no store, such as \(foreign).",
                path: work)
        }
        return names
    }

    /// Removes the files of an interrupted restore, but for the lock.
    private func clear(_ work: String) throws {
        for name in try names(in: work) where name != FileName.lock {
            try onDisk("removing the files of an interrupted restore") { () throws(DiskError) in
                try disk.remove(work + "/" + name)
            }
        }
    }

    private func publish(_ work: String, at destination: String) throws(LogError) {
        try onDisk("putting the restored store in its place") { () throws(DiskError) in
            try disk.rename(work, to: destination)
            try disk.synchronizeDirectory(DirectoryPath.parent(of: destination), site: "restore.parent")
        }
    }

    // MARK: The files

    private func fill(_ work: String, _ choice: RestoreChoice, _ set: BackupSet) throws -> RestoreReport {
        var bytes = CopiedBytes(disk, clock, options)
        let files = choice.files
        bytes.total = files.reduce(0) { $0 &+ $1.file.byteCount }
        for (record, file) in files {
            try verify(file, at: set.path(of: file, in: record)) { path in
                try bytes.copy(path, 0..<file.byteCount, to: work + "/" + file.name)
            }
        }
        // The newest one has the features of all segments.
        let record = choice.later.last ?? choice.base
        for record in [choice.base] + choice.later {
            for file in [record.manifest, record.identity] {
                try verify(file, at: set.path(of: file, in: record)) { path in
                    try bytes.checksum(of: path, byteCount: file.byteCount)
                }
            }
        }
        let path = set.folder(of: record.number) + "/" + FileName.identity
        guard let identity = try IdentityFile.read(path, on: disk) else { throw Self.missing(path) }
        let newest = try cut(work, identity, choice, set)
        var random = SystemRandomNumberGenerator()
        try AssembledStore.writeIdentity(
            of: identity, instance: StoreID(high: random.next(), low: random.next()), in: work, on: disk)
        return RestoreReport(
            backup: choice.base.number,
            last: BackupMoment(transaction: newest.sequence, nanoseconds: newest.clockNanoseconds),
            fileCount: files.count, byteCount: bytes.byteCount)
    }

    private static func missing(_ path: String) -> BackupError {
        BackupError(.damaged, "A file of the backup is missing. \(CutState.remedy)", path: path)
    }

    /// Reads a file of a backup, and refuses one that is missing or has another checksum.
    private func verify(_ file: BackupFile, at path: String, by read: (String) throws -> UInt32) throws {
        let checksum: UInt32
        do { checksum = try read(path) } catch let error as LogError {
            throw error.cause?.code == .notFound ? Self.missing(path) : error
        }
        guard checksum == file.checksum else {
            throw BackupError(.damaged, "A file of the backup does not verify. \(CutState.remedy)", path: path)
        }
    }

    /// Cuts the log behind the wanted transaction, and writes the manifest.
    private func cut(
        _ work: String, _ identity: Identity, _ choice: RestoreChoice, _ set: BackupSet
    ) throws -> LogPlace {
        let directory = StoreDirectory(
            disk: disk, path: work, storeID: identity.storeID, nextNumber: 1, random: RandomSource(seed: nil))
        let cut = try CutState(of: choice, set, identity, in: directory)
        try removeRest(cut.state, cut.end, directory)
        try AssembledStore.writeManifest(cut.state, newest: cut.end.sequence, in: directory)
        return cut.end
    }

    /// Removes the files that the state does not list, and the end of the log's last segment.
    private func removeRest(
        _ state: ManifestState, _ end: LogPlace, _ directory: StoreDirectory
    ) throws(LogError) {
        try onDisk("cutting the log of a restored store") { () throws(DiskError) in
            for name in try disk.names(in: directory.path) {
                guard let (kind, number) = FileName.parse(name), state.files[number]?.kind != kind else { continue }
                try disk.remove(directory.path(of: name))
            }
            let file = try disk.open(directory.path(.hotSegment, end.segment), for: .updating)
            defer { file.close() }
            if try file.byteCount() > end.offset { try file.cut(to: end.offset) }
            try file.synchronize(site: "restore.log")
        }
    }
}
