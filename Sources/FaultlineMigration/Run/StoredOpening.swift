package import FaultlineDisk
package import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// Opens a store under its own schema, without migration.
package enum StoredOpening {
    /// The rows of a log under its current schema; nil if it has none yet.
    ///
    /// Waits until no other thread of this process migrates the store, unless it does so online. An unfinished
    /// migration is left as it is: the state before it can be read, but not written until the migration has finished.
    /// If there is none, remains of earlier ones are deleted, and so is an interrupted dry run.
    ///
    /// - Throws: `StoreError` or `LogError` if the catalog cannot be read, or the store cannot be cleaned.
    package static func open(_ log: Log, isReadOnly: Bool, clock: Clock = .system) throws -> Migrator.Opened? {
        let turn = MigrationTurns.shared.turn(of: log)
        if turn.isOnline, let stored = try StoredCatalog.read(log.snapshot()) {
            return (try RowStore(log: log, catalog: stored.inForce, isOfContainer: true), MigrationReport())
        }
        try turn.take()
        defer { turn.giveUp() }
        guard var stored = try StoredCatalog.read(log.snapshot()) else { return nil }
        if !isReadOnly {
            try SwitchKeeping(log: log).settle(now: clock.wallNanoseconds())
            // Repeated, because a salvage of an older release leaves it out.
            if stored.schema.hasHeirs { try log.noteSubclasses() }
        }
        if stored.migration?.isNeverResumed == true, !isReadOnly {
            stored = try MigrationAbandonment(log: log).run(stored)
        }
        if stored.migration == nil, !isReadOnly {
            try LeftBehindCleaning(log: log, layouts: stored.layouts).run()
            try SchemaLineage.settle(log, under: stored.schema)
        }
        return (try RowStore(log: log, catalog: stored.inForce, isOfContainer: true), MigrationReport())
    }
}
