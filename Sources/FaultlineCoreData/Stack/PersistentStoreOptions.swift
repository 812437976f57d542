internal import Faultline
internal import Foundation

/// A store in files, which are those of this library, and no database of SQLite.
public let NSSQLiteStoreType = "SQLite"
/// A store in memory, which ends with its coordinator.
public let NSInMemoryStoreType = "InMemory"

/// Whether a store of an older model is migrated when it is added; false without the option.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Whether such a migration may be inferred from the two models; it must be true, unless a manager has stages.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// The `NSStagedMigrationManager` that migrates the store.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"
/// Whether the store is only read.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// Whether saves are kept in the store's history; true without the option.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"

/// The key of a store's identifier in its metadata.
public let NSStoreUUIDKey = "NSStoreUUID"
/// The key of a store's type in its metadata.
public let NSStoreTypeKey = "NSStoreType"

/// The options of one store, read from Core Data's dictionary.
struct PersistentStoreOptions {
    private(set) var isReadOnly = false
    private(set) var migrates = false
    private(set) var infers = false
    private(set) var keepsHistory = true
    private(set) var manager: NSStagedMigrationManager?

    /// - Throws: `PersistentStoreError` for an option that has no meaning here.
    init(_ options: [AnyHashable: Any]?) throws {
        for (key, value) in options ?? [:] {
            switch key as? String {
            case NSReadOnlyPersistentStoreOption: isReadOnly = try Self.truth(value, key)
            case NSMigratePersistentStoresAutomaticallyOption: migrates = try Self.truth(value, key)
            case NSInferMappingModelAutomaticallyOption: infers = try Self.truth(value, key)
            case NSPersistentHistoryTrackingKey: keepsHistory = try Self.truth(value, key)
            case NSPersistentStoreStagedMigrationManagerOptionKey:
                guard let given = value as? NSStagedMigrationManager else { throw Self.refusal(key, value) }
                manager = given
            default: throw Self.refusal(key, value)
            }
        }
    }

    private static func truth(_ value: Any, _ key: AnyHashable) throws -> Bool {
        if let truth = value as? Bool { return truth }
        if let number = value as? NSNumber { return number.boolValue }
        throw refusal(key, value)
    }

    private static func refusal(_ key: AnyHashable, _ value: Any) -> PersistentStoreError {
        PersistentStoreError(
            .unknownOption,
            "The option \(key) with the value \(value) has no meaning here. Known are NSReadOnlyPersistentStoreOption, NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption and NSPersistentHistoryTrackingKey, each true or false, and NSPersistentStoreStagedMigrationManagerOptionKey. Leave others out."
        )
    }
}
