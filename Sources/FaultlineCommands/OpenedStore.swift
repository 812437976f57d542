import FaultlineDisk
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

    /// Opens the store; nothing is written, and other processes may use it meanwhile.
    ///
    /// - Throws: A failure of status 3 that names the file, and the remedy.
    package init(_ path: String) throws(CommandFailure) {
        var options = LogOptions()
        options.access = .reading
        let log = try CommandFailure.opening(path) {
            try Log.open(path, on: PosixDisk(), clock: .system, options: options, deriver: RowIndexDeriver())
        }
        let snapshot = log.snapshot()
        let (catalog, rows) = try CommandFailure.opening(path) {
            guard let catalog = try StoredCatalog.read(snapshot) else {
                throw CommandFailure(
                    CommandFailure.cannotOpen,
                    "\(path) is a store without a schema: no container was ever made for it."
                )
            }
            return (catalog, try RowStore(log: log, catalog: catalog))
        }
        self.log = log
        self.snapshot = snapshot
        self.catalog = catalog
        self.rows = rows
    }
}
