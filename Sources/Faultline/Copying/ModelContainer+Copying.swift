internal import FaultlineDisk
internal import FaultlineLog
public import FaultlineMigration
public import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore
public import Foundation

extension ModelContainer {
    /// Migrates a copy of a store in another place; the store itself stays as it is.
    ///
    ///     var new = ModelConfiguration(url: newPlace)
    ///     new.options.migration.mapping = mapping
    ///     let report = try ModelContainer.migrateStore(from: oldPlace, to: new, for: newSchema)
    ///
    /// The old store can be opened by older programs afterwards. The new one appears, whole, when its migration has
    /// ended; until then it is in a folder beside with `.copying` behind its name, which is deleted after an error, and
    /// replaced by the next attempt after a kill; a file there that is not of a store stays, and is an error. Both stores have the same identifiers of objects, and the history so
    /// far.
    ///
    /// - Parameters:
    ///   - source: The directory of the old store. No container may have it open before the migration has ended.
    ///   - configuration: The new store, with the options of its migration. Its directory must be missing or empty.
    ///   - givenSchema: The schema of the new store.
    ///   - migrationPlan: The way from older schemas; nil if none is needed.
    /// - Returns: The effect of the migration.
    /// - Throws: `MigrationError` and `SchemaError` as the initializers; `MigrationError` of the code `storage` if there
    ///   is no store, or if the place of the new one is taken or in memory, and of the code `underWay` while another
    ///   call migrates into that place; `StorageError` of the code `lockedByAnother` if the old store is open, and those
    ///   of reading and writing both.
    /// - Complexity: Copies all bytes of the store, unless the file system shares them; then as the migration.
    @discardableResult
    public static func migrateStore(
        from source: URL, to configuration: ModelConfiguration, for givenSchema: Schema,
        migrationPlan: (any SchemaMigrationPlan.Type)? = nil
    ) throws -> MigrationReport {
        defer { configuration.options.migration.options.finishUpdates() }
        try configuration.validate()
        let place = StorePlace(configuration, observer: nil)
        return try StorageError.translating {
            func checkPlace() throws {
                guard !configuration.isStoredInMemoryOnly, configuration.allowsSave, try isFree(place) else {
                    throw MigrationError(
                        .storage,
                        "The migrated store cannot be made at \(configuration.url.path): the directory has files, or the configuration is of a store in memory, or one that may not be written. Choose another place."
                    )
                }
            }
            try checkPlace()
            place.createParent()
            let final = DirectoryPath.trimmed(place.directory)
            let copy = MigratedCopy(
                disk: place.disk, source: DirectoryPath.trimmed(source.path(percentEncoded: false)),
                target: final + ".copying")
            return try whileAlone(with: copy.source, place) { log in
                guard let held = try copy.claim() else {
                    throw MigrationError(
                        .underWay,
                        "Another migration into \(final) is under way, in \(copy.target). Wait until it has ended, or choose another place."
                    )
                }
                defer { held.close() }
                do {
                    try checkPlace()
                    try log.checkpoint()
                    let newest = log.snapshot().sequence
                    try copy.make()
                    try checkAlone(log, copy.source, newest)
                    let report = try migrate(copy.target, configuration, givenSchema, migrationPlan)
                    try copy.rename(to: final)
                    return report
                } catch {
                    // If this fails too, the next attempt does it.
                    try? copy.remove()
                    throw error
                }
            }
        }
    }

    private static func migrate(
        _ directory: String, _ configuration: ModelConfiguration, _ schema: Schema,
        _ plan: (any SchemaMigrationPlan.Type)?
    ) throws -> MigrationReport {
        var working = ModelConfiguration(
            configuration.name, url: URL(filePath: directory, directoryHint: .isDirectory))
        working.options = configuration.options
        let container = try ModelContainer(for: schema, migrationPlan: plan, configurations: working)
        try container.close()
        return container.migrationReport
    }

    /// Calls `body` while a store is open here alone: a second attempt meanwhile is refused too.
    private static func whileAlone<R>(
        with directory: String, _ place: StorePlace, _ body: (Log) throws -> R
    ) throws -> R {
        var options = place.options
        // Nothing moves files.
        options.maintenance = .manual
        let source = StorePlace(directory: directory, disk: place.disk, clock: place.clock, options: options)
        guard try source.isPresent() else {
            throw MigrationError(.storage, "There is no store at \(directory). Name the directory of a store.")
        }
        let log = try source.open(4 << 20)
        let result: R
        do {
            try checkAlone(log, directory)
            result = try body(log)
        } catch {
            try? log.close()
            throw error
        }
        try log.close()
        return result
    }

    /// - Throws: `.lockedByAnother` if the store is open elsewhere in this process, or was written meanwhile.
    private static func checkAlone(_ log: Log, _ path: String, _ newest: UInt64? = nil) throws(LogError) {
        guard try log.isShared() || newest.map({ $0 != log.snapshot().sequence }) ?? false else { return }
        throw LogError(
            .lockedByAnother, "The store is open in this process. Close its containers, then migrate it.", path: path)
    }

    /// Whether the directory of a new store is missing or empty.
    private static func isFree(_ place: StorePlace) throws -> Bool {
        do { return try !place.isPresent() } catch { throw LogError(error, doing: "looking for a store") }
    }
}
