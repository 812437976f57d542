package import FaultlineDisk
package import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore

/// Opens a store under the schema that it carries: nothing is brought to anything.
package enum StoredOpening {
    /// The rows of a log under the schema in force; nil if it has none yet.
    ///
    /// Waits until nobody in this process migrates the store. A migration that was cut short stays what it is: the
    /// state before it can be read, and not written until somebody has finished it. Where there is none, what an
    /// earlier one left to be deleted goes, and so does a dry run that was cut short.
    ///
    /// - Throws: `StoreError` or `LogError` if the catalog cannot be read, or the store not be cleaned.
    package static func open(_ log: Log, isReadOnly: Bool, clock: Clock = .system) throws -> Migrator.Opened? {
        let turn = MigrationTurns.shared.turn(of: log)
        try turn.take()
        defer { turn.giveUp() }
        guard var stored = try StoredCatalog.read(log.snapshot()) else { return nil }
        if !isReadOnly { try SwitchKeeping(log: log).settle(now: clock.wallNanoseconds()) }
        if stored.migration?.isPreview == true, !isReadOnly {
            stored = try MigrationAbandonment(log: log).run(stored)
        }
        if stored.migration == nil, !isReadOnly {
            try LeftBehindCleaning(log: log, layouts: stored.layouts).run()
            try SchemaLineage.settle(log, under: stored.schema)
        }
        return (try RowStore(log: log, catalog: stored.under(stored.schema, stored.map)), MigrationReport())
    }
}
