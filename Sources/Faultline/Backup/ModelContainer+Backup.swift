public import FaultlineBackup
internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineObjects
public import Foundation

extension ModelContainer {
    /// Makes a backup of the store, while it is in use.
    ///
    ///     var options = BackupOptions()
    ///     options.isIncremental = true
    ///     let report = try await container.backup(to: URL(filePath: "/backups/photos"), options: options)
    ///     logger.info("Backup \(report.backup.number) has transaction \(report.backup.last.transaction).")
    ///
    /// A backup has all transactions that were acknowledged before it was begun. Saves go on meanwhile: a copy beside
    /// the store, with `.backup` behind its name, holds the state by links to files that do not change any more, and is
    /// removed at the end. Frames and large values are verified as they are read.
    ///
    /// - Parameters:
    ///   - directory: The directory of the backups; it is made if its parent exists.
    ///   - options: Whether it adds to earlier backups, how many are kept, and the rate.
    /// - Returns: The backup, and the bytes that were copied.
    /// - Throws: `BackupError`; `StorageError` if the store cannot be read or a file cannot be written. The backups that
    ///   were there are then as before.
    /// - Complexity: The bytes of the files that changed since the last backup, and one thread. Memory: some mebibytes.
    ///   Durability: the backup is durable when this returns.
    public nonisolated func backup(
        to directory: URL, options: BackupOptions = BackupOptions()
    ) async throws -> BackupReport {
        try checkIsOfOneStore("backup(to:options:)")
        guard past == nil else {
            throw BackupError(
                .unsuitable,
                "A container of the past has no backup: its files are those of the store. Make one of the store's container.",
                path: directory.path(percentEncoded: false))
        }
        let configuration = configurations.first ?? ModelConfiguration()
        return try await withTaskExecutorPreference(SingleThread()) {
            try Self.backup(configuration, directory.path(percentEncoded: false), options)
        }
    }

    private nonisolated static func backup(
        _ configuration: ModelConfiguration, _ directory: String, _ options: BackupOptions
    ) throws -> BackupReport {
        guard !configuration.isStoredInMemoryOnly else {
            throw BackupError(.unsuitable, "A store in memory has no files for a backup.", path: directory)
        }
        let place = StorePlace(configuration, observer: nil)
        return try StorageError.translating {
            try BackupWriter(of: place.directory, on: place.disk, clock: place.clock, options: options)
                .write(to: directory)
        }
    }

    /// The finished backups in a directory, the oldest first.
    ///
    ///     for backup in try ModelContainer.backups(in: URL(filePath: "/backups/photos")) {
    ///         print(backup.number, backup.first.transaction, backup.last.transaction)
    ///     }
    ///
    /// - Parameter directory: The directory of the backups.
    /// - Returns: The backups.
    /// - Throws: `BackupError` if there are none, or a list of files does not verify; `StorageError` if the disk fails.
    public nonisolated static func backups(in directory: URL) throws -> [Backup] {
        try StorageError.translating {
            try Restorer(from: directory.path(percentEncoded: false), on: disk, clock: .system).backups()
        }
    }

    /// Makes a store from backups: of the newest state, or of an older one.
    ///
    ///     let report = try await ModelContainer.restore(
    ///         from: URL(filePath: "/backups/photos"), to: URL(filePath: "/var/lib/photos.store"),
    ///         at: .transaction(4_711))
    ///
    /// The new store has the identifier of the old one, so that saved identifiers of objects lead to them, but is another
    /// instance: it needs a directory of its own for its backups, and history tokens of the transactions that it does
    /// not have are expired. New objects may get the identifiers of objects that only the old one has.
    ///
    /// - Parameters:
    ///   - backups: The directory of the backups.
    ///   - destination: The directory of the new store, which does not exist or is empty; its parent exists.
    ///   - point: The state.
    ///   - options: The rate and the progress.
    /// - Returns: The last transaction, and the bytes that were copied.
    /// - Throws: `BackupError`; `StorageError` if the disk fails. There is then no store at the destination.
    /// - Complexity: The bytes of the backup, and one thread. The next opening reads the log from the checkpoint before
    ///   the state; all of it for a state before that of the oldest checkpoint. Durability: the store is durable when
    ///   this returns.
    public nonisolated static func restore(
        from backups: URL, to destination: URL, at point: RestorePoint = .newest,
        options: BackupOptions = .restoring
    ) async throws -> RestoreReport {
        let (source, target) = (backups.path(percentEncoded: false), destination.path(percentEncoded: false))
        return try await withTaskExecutorPreference(SingleThread()) {
            try StorageError.translating {
                try Restorer(from: source, on: disk, clock: .system, options: options).restore(to: target, at: point)
            }
        }
    }

    private nonisolated static var disk: Disk { StoreDisk.current ?? PosixDisk() }
}
