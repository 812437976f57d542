package import FaultlineLog

/// The expected content of a store after one transaction: small enough to compare all of it.
package struct CrashModel: Equatable, Sendable {
    package var rows: [TableID: [RecordID: [UInt8]]] = [:]
    /// The object with a key: the first bytes of its row.
    package var blobs: [RecordID: [UInt8]] = [:]

    package init() {}
}

/// Derives the index entries of the simulation's rows: table 16 has a unique index over bytes 0 to 8 of the row, table
/// 17 one over byte 0 that is not unique.
package final class CrashDeriver: IndexDeriver {
    package static let unique = IndexDefinition(id: IndexID(rawValue: 1), isUnique: true, searchPrefix: .wholeKey)
    package static let group = IndexDefinition(id: IndexID(rawValue: 2), isUnique: false, searchPrefix: .bytes(1))
    package static let tables = [TableID(rawValue: 16), TableID(rawValue: 17)]

    package init() {}
    package func catalogChanged(_ read: (RecordID) throws(LogError) -> [UInt8]?) throws(LogError) {}
    package func indexes(of table: TableID) -> [IndexDefinition] {
        switch table.rawValue {
        case 16: [Self.unique]
        case 17: [Self.group]
        default: []
        }
    }
    package func deriveEntries(
        table: TableID, layout: UInt16, id: RecordID, row: UnsafeRawBufferPointer, hasExtension: Bool,
        emit: (IndexID, UnsafeRawBufferPointer) -> Void
    ) {
        guard let (definition, key) = Self.entry(of: table, id: id, row: Array(row)) else { return }
        key.withUnsafeBytes { emit(definition.id, $0) }
    }

    /// The one entry of a row.
    package static func entry(of table: TableID, id: RecordID, row: [UInt8]) -> (
        definition: IndexDefinition, key: [UInt8]
    )? {
        switch table.rawValue {
        case 16: return (unique, Array(row.prefix(8)))
        case 17:
            var key = Array(row.prefix(1))
            for shift in stride(from: 56, through: 0, by: -8) {
                key.append(UInt8(truncatingIfNeeded: id >> UInt64(shift)))
            }
            return (group, key)
        default: return nil
        }
    }
}
