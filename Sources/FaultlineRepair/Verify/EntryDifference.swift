import FaultlineLog

/// The difference between two sets of index entries, found in one pass over each, in any order, with constant memory.
///
/// An entry is a key and an identifier. Its hash chooses a cell, to which one side adds it and from which the other
/// subtracts it; so entries of both leave nothing. A cell with a single remaining entry names its identifier; more
/// differences than that are only detected. Two different sets count as equal only where sums of 64-bit hashes agree by
/// chance.
///
/// Source: Eppstein, Goodrich, Uyeda, Varghese, "What's the Difference? Efficient Set Reconciliation without Prior
/// Context" (2011); with one cell an entry instead of several, because a few names are enough.
struct EntryDifference {
    enum Side {
        case records, index
    }

    private struct Cell: Equatable {
        /// Entries of the records minus those of the index.
        var count: Int64 = 0
        var entries: UInt64 = 0
        var ids: UInt64 = 0
        /// The sum of the identifiers' hashes: shows whether `ids` is one identifier or a sum of several.
        var idHashes: UInt64 = 0
    }

    private static let cellCount = 256

    private var cells = [Cell](repeating: Cell(), count: cellCount)
    private(set) var recordEntryCount: UInt64 = 0
    private(set) var indexEntryCount: UInt64 = 0

    /// Adds an entry of one side.
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

    /// Identifiers of entries that only one side has, if they can be found, and whether there are others.
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
