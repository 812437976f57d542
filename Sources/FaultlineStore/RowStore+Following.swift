package import FaultlineLog
internal import Synchronization

// Whether contexts of a container can follow the store.

extension RowStore {
    /// Whether a state of the store has the tables and indexes that are read under this schema: those that a migration
    /// has dropped look empty.
    ///
    /// Rows of newer layouts are another matter: `view` refuses them one by one.
    ///
    /// - Complexity: One look-up, except for the first state behind a change of the schema.
    package func canRead(_ snapshot: Snapshot) -> Bool {
        guard isOfContainer else { return true }
        // A catalog that cannot be read is reported by the next read.
        guard let place = try? snapshot.location(of: StoredCatalog.RecordNumber.entityMap, in: .catalog) else {
            return true
        }
        let bits = UInt64(place.segment) << 32 | UInt64(place.offset)
        if bits == readableMapPlace.load(ordering: .relaxed) { return true }
        if bits == unreadableMapPlace.load(ordering: .relaxed) { return false }
        var buffer = RecordBuffer()
        guard let record = try? snapshot.read(StoredCatalog.RecordNumber.entityMap, in: .catalog, into: &buffer),
            let map = try? StoredCatalog.entityMap(Array(record.row))
        else { return true }
        let isReadable = map.keeps(storage.map)
        if isReadable {
            readableMapPlace.store(bits, ordering: .relaxed)
        } else {
            unreadableMapPlace.store(bits, ordering: .relaxed)
        }
        return isReadable
    }

    /// The error of a context that has no state from before the migration.
    package func outdated(by snapshot: Snapshot) -> StoreError {
        let current = try? StoredCatalog.read(snapshot)?.schema
        return StoreError(
            .outdated,
            "The store has been migrated since this container was made, and its tables or indexes were dropped: make a container with the new schema. \(fingerprints(against: current))"
        )
    }
}

extension EntityMap {
    /// Whether all tables and indexes of another map are in this one, except for those that only make fetches faster:
    /// a fetch asks the snapshot whether it has them.
    func keeps(_ other: EntityMap) -> Bool {
        var read = other
        for entity in read.entities.indices {
            read.entities[entity].secondaryIndexes = nil
            read.entities[entity].textIndexes = nil
        }
        return Set(tables).isSuperset(of: read.tables) && indexes.isSuperset(of: read.indexes)
    }
}
