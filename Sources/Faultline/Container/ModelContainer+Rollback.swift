package import FaultlineDisk
package import FaultlineLog
public import FaultlineMigration
internal import FaultlineObjects
internal import FaultlineStore

extension ModelContainer {
    /// Returns a store to the state before its newest migration: `MigrationOptions.gracePeriod`.
    ///
    /// The store must not be open in this or another process. Afterwards it has the old schema, and a release of the
    /// app that knows that schema can open it.
    ///
    /// Durability: one step. After a kill at any time, either the one state or the other is active and complete.
    ///
    /// - Complexity: Reads the store once, except large values outside the rows: its tables and indexes are rebuilt.
    /// - Parameters:
    ///   - configuration: The store.
    ///   - discardingCommits: Whether saves that followed the migration may be lost.
    /// - Returns: The versions, and how many saves were discarded.
    /// - Throws: `RollbackError` if nothing is kept, the period is over, or saves followed; `StorageError` if the store
    ///   is open elsewhere, or cannot be read or written.
    @discardableResult
    public static func rollBackMigration(
        of configuration: ModelConfiguration, discardingCommits: Bool = false
    ) throws -> RollbackReport {
        try configuration.validate()
        return try rollBackMigration(
            of: StorePlace(configuration, observer: nil), discardingCommits: discardingCommits)
    }

    /// As the public form, on a given disk: for simulations, which must be repeatable.
    package static func rollBackMigration(
        directory: String, on disk: Disk, clock: Clock, options: LogOptions, discardingCommits: Bool = false
    ) throws -> RollbackReport {
        try rollBackMigration(
            of: StorePlace(directory: directory, disk: disk, clock: clock, options: options),
            discardingCommits: discardingCommits)
    }

    private static func rollBackMigration(
        of place: StorePlace, discardingCommits: Bool
    ) throws -> RollbackReport {
        try StorageError.translating {
            // Checked first: opening for writing would make a store.
            guard try place.isPresent() else {
                throw LogError(.notAStore, "There is no store in this directory.", path: place.directory)
            }
            func use<R>(_ body: (MigrationRollback) throws -> R) throws -> R {
                let log = try place.open(place.options.memoryBudget)
                do {
                    let value = try body(MigrationRollback(log))
                    try log.close()
                    return value
                } catch {
                    try? log.close()
                    throw error
                }
            }
            let now = place.clock.wallNanoseconds()
            let report = try use { try $0.run(discardsCommits: discardingCommits, now: now) }
            try use { try $0.finish() }
            return report
        }
    }

    /// The state before the newest migration, as long as the store can return to it; nil if it cannot.
    ///
    /// - Throws: `StorageError` if the store cannot be read.
    /// - Complexity: O(f) for f files of the store; reads nothing.
    public func gracePeriod() throws -> GracePeriod? {
        try checkIsOfOneStore("gracePeriod()")
        return try StorageError.translating { try rowStore.log.keptState().map { GracePeriod($0) } }
    }

    /// Ends the grace period of the newest migration at once, if there is one.
    ///
    /// The store cannot return to that state any more, and frees its space.
    ///
    /// - Throws: `StorageError` if the store cannot be written.
    /// - Complexity: A durable edit of the manifest; the space is freed by compaction afterwards.
    public func endGracePeriod() throws {
        try checkIsOfOneStore("endGracePeriod()")
        try StorageError.translating { try rowStore.log.releaseKeptState() }
    }
}
