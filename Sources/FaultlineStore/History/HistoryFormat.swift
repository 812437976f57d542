package import FaultlineLog

/// Numbers of the form of a change record: `docs/FileFormat.md` section 7.3.
enum HistoryFormat {
    static let version: UInt8 = 1

    /// The flags in the second byte of a part.
    static let isFirst: UInt8 = 1
    static let isLast: UInt8 = 2

    /// Bytes after which a transaction's changes continue in the next part; a tombstone may make a part larger.
    static let partByteCount = 32 << 10
    /// The size from which a tombstone omits a value.
    static let preservedByteCountMax = 64 << 10

    /// The tag of the next piece of a part.
    enum Tag: UInt8 {
        case entity = 1
        case inserts = 2
        case updates = 3
        case deletes = 4
        case tombstone = 5
    }

    /// Maps signed differences to unsigned numbers; small ones stay small.
    static func folded(_ value: Int64) -> UInt64 { UInt64(bitPattern: value << 1 ^ value >> 63) }
    static func unfolded(_ value: UInt64) -> Int64 { Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1) }
}

/// The change of a run of objects.
package enum HistoryOperation: Sendable, Equatable {
    case insert
    /// The mask has a bit for each slot of the layout that was changed; bit 63 stands for all from 63 on.
    case update(mask: UInt64)
    case delete
}

/// The beginning of the history, in the catalog: earlier records refer to objects by numbers that have changed since.
package struct HistoryStart: Codable, Sendable, Equatable {
    /// The first valid record.
    package let first: RecordID

    /// Restarts the history, behind all present records.
    package static func beginAnew(in transaction: inout Transaction) throws(StoreError) {
        let next = transaction.nextID(in: .history)
        guard next > 1 else { return }
        try StoredCatalog.put(
            HistoryStart(first: next), StoredCatalog.RecordNumber.historyStart, in: &transaction)
    }

    /// The first valid record of a snapshot.
    package static func first(in snapshot: Snapshot) throws(StoreError) -> RecordID {
        try StoredCatalog.entry(HistoryStart.self, StoredCatalog.RecordNumber.historyStart, in: snapshot)?.first ?? 1
    }
}
