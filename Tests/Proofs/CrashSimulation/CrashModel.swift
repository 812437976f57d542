package import FaultlineLog

/// The expected content of a store after one transaction: small enough to compare all of it.
package struct CrashModel: Equatable, Sendable {
    package var rows: [TableID: [RecordID: [UInt8]]] = [:]
    /// The object with a key: the first bytes of its row.
    package var blobs: [RecordID: [UInt8]] = [:]

    package init() {}
}

/// Derives the index entries of the simulation's rows: table 16 has a unique index over bytes 0 to 8 of the row, table
/// 17 one over byte 0 and the bytes behind it, in which a row has several entries, most of them postings.
package final class CrashDeriver: IndexDeriver {
    package static let unique = IndexDefinition(id: IndexID(rawValue: 1), isUnique: true, searchPrefix: .wholeKey)
    package static let group = IndexDefinition(
        id: IndexID(rawValue: 2), isUnique: false, searchPrefix: .bytes(1), isText: true)
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
        for (definition, key) in Self.entries(of: table, id: id, row: Array(row)) {
            key.withUnsafeBytes { emit(definition.id, $0) }
        }
    }

    /// The entries of a row: one in the unique index; several in the other one, as a text index has them.
    package static func entries(of table: TableID, id: RecordID, row: [UInt8]) -> [(
        definition: IndexDefinition, key: [UInt8]
    )] {
        switch table.rawValue {
        case 16: return [(unique, Array(row.prefix(8)))]
        case 17:
            let number = (0..<8).map { UInt8(truncatingIfNeeded: id >> UInt64(56 - 8 * $0)) }
            var counts: [UInt8: UInt8] = [:]
            for byte in row.dropFirst().prefix(16) { counts[16 + byte & 7, default: 0] += 1 }
            return [(group, row.prefix(1) + number)]
                + counts.sorted { $0.key < $1.key }.map { (group, [$0.key, 0] + number + [$0.value]) }
        default: return []
        }
    }
}
