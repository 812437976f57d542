internal import FaultlineLog

// A context that serves a data store: changes and reads objects by their values.

extension ModelContext {
    /// Saves changes that are given as values.
    ///
    /// - Parameters:
    ///   - inserted: New objects, with temporary identifiers.
    ///   - updated: Stored objects, with all values.
    ///   - deleted: Stored objects.
    /// - Returns: The identifiers of the new objects, by their temporary ones.
    /// - Throws: As `save()`; `SwiftDataError.missingModelContext` for an updated object that the store lacks.
    package func save(
        inserted: [DefaultSnapshot], updated: [DefaultSnapshot], deleted: [PersistentIdentifier]
    ) throws -> [PersistentIdentifier: PersistentIdentifier] {
        try core.throwing {
            for snapshot in updated where try storedModel(snapshot.persistentIdentifier) == nil {
                throw SwiftDataError.missingModelContext.explained(
                    "\(snapshot.persistentIdentifier) was changed, and is not in the store any more.")
            }
            try core.beginReading()
            defer { core.endReading() }
            var applier = SnapshotApplier(core)
            try applier.apply(inserted + updated)
            for identifier in deleted { if let object = try storedModel(identifier) { delete(object) } }
            try saveTelling()
            var saved: [PersistentIdentifier: PersistentIdentifier] = [:]
            for snapshot in inserted {
                saved[snapshot.persistentIdentifier] = applier.object(snapshot.persistentIdentifier)?.persistentModelID
            }
            return saved
        }
    }

    /// The values of a stored object; nil if the store lacks it.
    package func snapshot(of identifier: PersistentIdentifier) throws -> DefaultSnapshot? {
        try core.throwing { try storedModel(identifier).map { try DefaultSnapshot(of: $0) } }
    }

    private func storedModel(_ identifier: PersistentIdentifier) throws -> (any PersistentModel)? {
        try ObjectRegistry(core).existingModel(for: identifier) { _ in true }
    }
}

extension PersistentIdentifier {
    /// The text of a store in identifiers.
    package static func storeIdentifier(_ storeID: (UInt64, UInt64)) -> String {
        IdentifierText.text(high: storeID.0, low: storeID.1)
    }
}
