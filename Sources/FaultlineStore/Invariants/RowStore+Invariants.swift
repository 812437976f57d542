internal import FaultlineLog

extension RowStore {
    /// Checks the invariants of the entity map, of all layouts, and of the stored list of schemas.
    ///
    /// - Throws: The first broken rule, as `BrokenInvariant`; `StoreError` if the list of schemas cannot be read.
    /// - Complexity: O(columns of all layouts + schemas that the store has had).
    package func checkInvariants() throws {
        try storage.map.checkInvariants(of: Array(storage.layouts.values))
        for layout in storage.layouts.values { try layout.checkInvariants() }
        let number = StoredCatalog.RecordNumber.lineage
        try StoredCatalog.entry(SchemaLineage.Stored.self, number, in: log.snapshot())?.lineage.checkInvariants()
    }
}
