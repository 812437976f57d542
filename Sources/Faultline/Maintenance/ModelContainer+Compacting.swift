internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore
internal import Foundation

/// Maintenance that a store also does by itself.
extension ModelContainer {
    /// Writes a checkpoint of the location tables, so that the next opening has no log to replay.
    ///
    /// - Throws: `StorageError` if the store cannot be written, or this container may not.
    /// - Complexity: Proportional to the table pages and index entries that changed since the last checkpoint.
    public func checkpoint() throws {
        if let parts {
            _ = try parts.forEachWritable { try $0.checkpoint() }
            return
        }
        try StorageError.translating { try rowStore.log.checkpoint() }
    }

    /// Frees the space of old versions and deleted objects: copies live records out of files that are mostly dead, and
    /// drops these files.
    ///
    /// An open store compacts by itself, at the pace of its writes. Call this only to free the rest at once. Contexts
    /// can read and save during the call. Files that are being written are reached too, and small ones are merged; files
    /// with few dead bytes are left alone.
    ///
    /// Durability: an interruption at any time loses no saved data.
    /// - Complexity: Proportional to the live bytes in the chosen files.
    /// - Returns: The work since the last call, including the store's own compaction.
    /// - Throws: `StorageError` if the store cannot be written, or this container may not.
    @discardableResult
    public func compact() throws -> CompactionSummary {
        if let parts { return CompactionSummary(joining: try parts.forEachWritable { try $0.compact() }) }
        return try StorageError.translating {
            try requireWritable()
            return CompactionSummary(try rowStore.log.compact())
        }
    }

    /// - Throws: `.readOnly` for a container that may not write its store.
    func requireWritable() throws(LogError) {
        guard configuration.allowsSave else {
            throw LogError(.readOnly, "This container may not write the store.", path: configuration.url.path)
        }
    }
}
