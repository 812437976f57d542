package import FaultlineLog

/// Numbers of the form of a change record: `docs/FileFormat.md` section 7.3.
enum HistoryFormat {
    static let version: UInt8 = 1

    /// What the second byte of a part says.
    static let isFirst: UInt8 = 1
    static let isLast: UInt8 = 2

    /// Bytes after which a transaction's changes go on in the next part; a tombstone may make a part larger.
    static let partByteCount = 32 << 10
    /// Bytes of a value from which on a tombstone leaves it out.
    static let preservedByteCountMax = 64 << 10

    /// What comes next in a part.
    enum Tag: UInt8 {
        case entity = 1
        case inserts = 2
        case updates = 3
        case deletes = 4
        case tombstone = 5
    }

    /// Signed differences as unsigned numbers, small ones small.
    static func folded(_ value: Int64) -> UInt64 { UInt64(bitPattern: value << 1 ^ value >> 63) }
    static func unfolded(_ value: UInt64) -> Int64 { Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1) }
}

/// What a run of objects has met.
package enum HistoryOperation: Sendable, Equatable {
    case insert
    /// The mask has a bit for each slot of the layout that was changed; bit 63 stands for all from 63 on.
    case update(mask: UInt64)
    case delete
}

/// Where the history begins, as the catalog has it: what lies before speaks of objects that have other numbers now.
package struct HistoryStart: Codable, Sendable, Equatable {
    /// The first record that counts.
    package let first: RecordID

    /// Lets the history begin anew, behind all that there is.
    package static func beginAnew(in transaction: inout Transaction) throws(StoreError) {
        let next = transaction.nextID(in: .history)
        guard next > 1 else { return }
        try StoredCatalog.put(
            HistoryStart(first: next), StoredCatalog.RecordNumber.historyStart, in: &transaction)
    }

    /// The first record that counts, as a snapshot has it.
    package static func first(in snapshot: Snapshot) throws(StoreError) -> RecordID {
        try StoredCatalog.entry(HistoryStart.self, StoredCatalog.RecordNumber.historyStart, in: snapshot)?.first ?? 1
    }
}
