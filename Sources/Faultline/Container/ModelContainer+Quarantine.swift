public import FaultlineMigration
internal import FaultlineObjects
internal import FaultlineLog
internal import FaultlineStore

extension ModelContainer {
    /// The objects that migrations could not convert and moved to the quarantine: `MigrationOptions.onFailure`.
    ///
    /// They are kept, through later migrations too, until they are removed.
    ///
    /// - Throws: `StorageError` if the store cannot be read.
    /// - Complexity: O(1): one look-up. The objects are read when they are enumerated.
    public func quarantine() throws -> Quarantine {
        try checkIsOfOneStore("quarantine()")
        return try StorageError.translating { try Quarantine(rowStore.log) }
    }
}
