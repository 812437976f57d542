/// What two sets of index entries do not have in common, found in one pass over each, in any order, and in memory that
/// does not grow with them.
///
/// An entry is a key and an identifier. It falls into a cell by its hash, where one side adds it and the other takes
/// it away; so what both have leaves nothing. A cell in which a single entry is left names its identifier; more
/// differences than that are only noticed. Two sets that differ are taken for equal only where sums of 64-bit hashes
/// agree by chance.
///
/// Source: Eppstein, Goodrich, Uyeda, Varghese, "What's the Difference? Efficient Set Reconciliation without Prior
/// Context" (2011); with one cell an entry instead of several, because a few names are enough.
struct EntryDifference {
    enum Side {
        case records, index
    }

    private struct Cell: Equatable {
        /// Entries of the records less those of the index.
        var count: Int64 = 0
        var entries: UInt64 = 0
        var ids: UInt64 = 0
        /// Sum of hashes of the identifiers: tells whether `ids` is one identifier or a sum of several.
        var idHashes: UInt64 = 0
    }

    private static let cellCount = 256

    private var cells = [Cell](repeating: Cell(), count: cellCount)
    private(set) var recordEntryCount: UInt64 = 0
    private(set) var indexEntryCount: UInt64 = 0

    /// Adds an entry that one side has.
    mutating func add(_ key: UnsafeRawBufferPointer, _ id: RecordID, of side: Side) {
        let idHash = Self.hash(id)
        let entry = IndexHash.finish(IndexHash.hash(key, prefixByteCountMax: Int.max) &+ idHash)
        let place = Int(entry % UInt64(Self.cellCount))
        switch side {
        case .records:
            recordEntryCount += 1
            cells[place].count += 1
            cells[place].entries &+= entry
            cells[place].ids &+= id
            cells[place].idHashes &+= idHash
        case .index:
            indexEntryCount += 1
            cells[place].count -= 1
            cells[place].entries &-= entry
            cells[place].ids &-= id
            cells[place].idHashes &-= idHash
        }
    }

    /// Identifiers of entries that only one side has, as far as they can be told, and whether there are others.
    var findings: (onlyInRecords: [RecordID], onlyInIndex: [RecordID], areThereMore: Bool) {
        var onlyInRecords: [RecordID] = []
        var onlyInIndex: [RecordID] = []
        var areThereMore = false
        for cell in cells where cell != Cell() {
            switch cell.count {
            case 1 where cell.idHashes == Self.hash(cell.ids): onlyInRecords.append(cell.ids)
            case -1 where 0 &- cell.idHashes == Self.hash(0 &- cell.ids): onlyInIndex.append(0 &- cell.ids)
            default: areThereMore = true
            }
        }
        return (onlyInRecords.sorted(), onlyInIndex.sorted(), areThereMore)
    }

    private static func hash(_ id: RecordID) -> UInt64 { IndexHash.finish(id &* 0x9E37_79B9_7F4A_7C15) }
}
