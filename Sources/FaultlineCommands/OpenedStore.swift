package import FaultlineDisk
package import FaultlineLog
import FaultlineModel
import FaultlineObjects
package import FaultlineStore

/// A store opened for reading, seen through the schema that it carries: no model classes are needed.
package struct OpenedStore {
    package let log: Log
    package let catalog: StoredCatalog
    package let rows: RowStore
    package let snapshot: Snapshot

    /// Opens the store; nothing is written, and other processes may use it at the same time.
    ///
    /// - Parameters:
    ///   - path: The store's directory.
    ///   - disk: Its disk; the system's files for nil.
    ///   - name: The name of the store in errors; the path for nil.
    /// - Throws: A failure of status 3 that names the file, and the remedy.
    package init(_ path: String, on disk: Disk? = nil, name: String? = nil) throws(CommandFailure) {
        var options = LogOptions()
        options.access = .reading
        (log, catalog, rows, snapshot) = try Self.open(path, options, on: disk ?? PosixDisk(), name: name ?? path)
    }

    /// Opens a store for writing, which no other process may have open for writing; holds no snapshot of it.
    ///
    /// Open it for reading before: this call would make a store if there is none.
    ///
    /// - Parameters:
    ///   - path: The store.
    ///   - maintenance: Who makes checkpoints and compacts.
    /// - Returns: The store; the caller closes it.
    /// - Throws: As the opening for reading.
    package static func openForWriting(
        _ path: String, maintenance: Maintenance = .manual
    ) throws(CommandFailure) -> (log: Log, rows: RowStore) {
        var options = LogOptions()
        options.maintenance = maintenance
        let opened = try open(path, options)
        return (opened.log, opened.rows)
    }

    private static func open(
        _ path: String, _ options: LogOptions, on disk: Disk = PosixDisk(), name: String? = nil
    ) throws(CommandFailure) -> (log: Log, catalog: StoredCatalog, rows: RowStore, snapshot: Snapshot) {
        let name = name ?? path
        let log = try CommandFailure.opening(name) {
            try Log.open(path, on: disk, clock: .system, options: options, deriver: RowIndexDeriver())
        }
        let snapshot = log.snapshot()
        return try CommandFailure.opening(name) {
            guard let catalog = try StoredCatalog.read(snapshot) else {
                throw CommandFailure(
                    CommandFailure.cannotOpen,
                    "\(name) is a store without a schema: no container was ever made for it."
                )
            }
            return (log, catalog, try RowStore(log: log, catalog: catalog), snapshot)
        }
    }
}
