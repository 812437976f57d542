import FaultlineBackup
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport

extension Store {
    static let backups = "/d/backups"

    @discardableResult
    func backup(
        on other: Disk? = nil, to directory: String = Store.backups, clock: Clock = Clock { 5 },
        _ set: (inout BackupOptions) -> Void = { _ in }
    ) throws -> BackupReport {
        var options = BackupOptions()
        options.isIncremental = true
        set(&options)
        return try BackupWriter(of: Self.path, on: other ?? disk, clock: clock, options: options).write(to: directory)
    }

    /// Restores a state into `/d/restored`, opens it, calls the closure, and removes it.
    func restore<R>(
        _ point: RestorePoint = .newest, from directory: String = Store.backups, options: LogOptions = Store.options,
        _ body: (Log, RestoreReport) throws -> R
    ) throws -> R {
        let path = "/d/restored"
        let report = try Restorer(from: directory, on: disk, clock: Clock { 5 }).restore(to: path, at: point)
        let log = try Log.open(path, on: disk, clock: Clock { 5 }, options: options, deriver: WholeRowDeriver())
        let result = try body(log, report)
        try log.close()
        try remove(path)
        return result
    }

    /// Removes a directory of files.
    func remove(_ path: String) throws {
        for name in try disk.names(in: path) { try disk.remove(path + "/" + name) }
        try disk.removeDirectory(path)
    }
}

extension PastState {
    /// Opens the state for reading.
    func opened() throws -> Log {
        var options = Store.options
        options.access = .reading
        return try Log.open(directory, on: disk, clock: Clock { 5 }, options: options, deriver: WholeRowDeriver())
    }
}

/// The code of the error of a backup or a restore; nil for another error, or none.
func backupCode(_ body: () throws -> Void) -> BackupError.Code? {
    do {
        try body()
        return nil
    } catch let error as BackupError {
        return error.code
    } catch {
        return nil
    }
}
