import FaultlineLog

/// A row of the model: the size of its key in two bytes, the key and a payload.
///
/// A row has no key if its size says so, or if it has fewer than two bytes.
struct ModelRow: Equatable, Sendable {
    let bytes: [UInt8]

    private static let noKey = 0xFFFF

    init(bytes: [UInt8]) { self.bytes = bytes }

    init(key: [UInt8]?, payload: [UInt8]) {
        let size = key?.count ?? Self.noKey
        bytes = [UInt8(size & 0xFF), UInt8(size >> 8)] + (key ?? []) + payload
    }

    /// The key of the row, or `nil`.
    var key: ArraySlice<UInt8>? {
        guard bytes.count >= 2 else { return nil }
        let size = Int(bytes[0]) | Int(bytes[1]) << 8
        guard size != Self.noKey, bytes.count >= 2 + size else { return nil }
        return bytes[2..<2 + size]
    }

    /// The keys of the row in an index, in ascending order: its key in a unique one; in another one also a key for each
    /// different byte of the key's first ones, as a text index has one for each word of a row.
    func keys(in index: IndexDefinition, of id: RecordID) -> [ArraySlice<UInt8>] {
        guard let key else { return [] }
        if index.isUnique { return [key] }
        let number = (0..<8).map { UInt8(truncatingIfNeeded: id >> UInt64(56 - 8 * $0)) }
        var words: Set<ArraySlice<UInt8>> = [key]
        for byte in key.prefix(4) { words.insert([byte, 0] + number + [UInt8(key.count & 0xFF)]) }
        return words.sorted { $0.lexicographicallyPrecedes($1) }
    }
}

/// The kinds of indexes of a table.
///
/// The kind is the table number modulo four.
enum ModelTableKind: UInt16, Sendable {
    case unique, plain, bare, both

    init(of table: UInt16) {
        self = Self(rawValue: table % 4) ?? .bare
    }

    var hasUnique: Bool { self == .unique || self == .both }
    var hasPlain: Bool { self == .plain || self == .both }

    /// Returns the index with unique keys.
    static func unique(of table: UInt16) -> IndexDefinition {
        IndexDefinition(id: IndexID(rawValue: UInt32(table) * 2), isUnique: true, searchPrefix: .wholeKey)
    }

    /// Returns the index that allows equal keys, some of which lie in blocks of postings.
    static func plain(of table: UInt16) -> IndexDefinition {
        IndexDefinition(
            id: IndexID(rawValue: UInt32(table) * 2 + 1), isUnique: false, searchPrefix: .bytes(1), isText: true)
    }

    /// Returns the table of an index.
    static func table(of index: IndexID) -> UInt16 { UInt16(truncatingIfNeeded: index.rawValue / 2) }

    /// Returns the indexes of a table.
    static func indexes(of table: UInt16) -> [IndexDefinition] {
        let kind = Self(of: table)
        return (kind.hasUnique ? [unique(of: table)] : []) + (kind.hasPlain ? [plain(of: table)] : [])
    }
}

/// Derives the index entries from the rows of the model.
final class ModelDeriver: IndexDeriver {
    func catalogChanged(_ read: (RecordID) throws(LogError) -> [UInt8]?) throws(LogError) {}

    func indexes(of table: TableID) -> [IndexDefinition] { ModelTableKind.indexes(of: table.rawValue) }

    func deriveEntries(
        table: TableID, layout: UInt16, id: RecordID, row: UnsafeRawBufferPointer, hasExtension: Bool,
        emit: (IndexID, UnsafeRawBufferPointer) -> Void
    ) {
        let row = ModelRow(bytes: Array(row))
        for index in indexes(of: table) {
            for key in row.keys(in: index, of: id) { key.withUnsafeBytes { emit(index.id, $0) } }
        }
    }
}
