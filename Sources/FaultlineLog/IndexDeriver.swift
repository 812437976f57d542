/// Derives the index entries of a record for the log, because the log cannot read rows.
///
/// Called during replay, rebuild and verification only: a transaction adds its entries itself.
package protocol IndexDeriver: AnyObject, Sendable {
    /// The catalog as recovered so far; called before the first replayed record and after each replayed transaction
    /// that changed the catalog.
    func catalogChanged(_ read: (RecordID) throws(LogError) -> [UInt8]?) throws(LogError)

    /// The indexes of a table.
    func indexes(of table: TableID) -> [IndexDefinition]

    /// Calls `emit` for each entry of the row.
    func deriveEntries(
        table: TableID, layout: UInt16, id: RecordID, row: UnsafeRawBufferPointer, hasExtension: Bool,
        emit: (IndexID, UnsafeRawBufferPointer) -> Void)
}

/// A deriver for a store without indexes.
package final class NoIndexes: IndexDeriver {
    package init() {}
    package func catalogChanged(_ read: (RecordID) throws(LogError) -> [UInt8]?) throws(LogError) {}
    package func indexes(of table: TableID) -> [IndexDefinition] { [] }
    package func deriveEntries(
        table: TableID, layout: UInt16, id: RecordID, row: UnsafeRawBufferPointer, hasExtension: Bool,
        emit: (IndexID, UnsafeRawBufferPointer) -> Void
    ) {}
}
