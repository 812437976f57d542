package import FaultlineLog

/// The results and losses of a salvage.
package struct SalvageReport: Sendable, Equatable {
    /// Objects in the new store by table, with blobs.
    package internal(set) var recordCounts: [TableID: Int] = [:]
    /// The number of them, by table, that may not be in their newest version, because a later transaction is
    /// incomplete.
    package internal(set) var possiblyOldCounts: [TableID: Int] = [:]
    /// Bytes of the blobs in the new store.
    package internal(set) var blobByteCount: UInt64 = 0
    package internal(set) var lostRangeCount = 0
    package internal(set) var lostByteCount: UInt64 = 0
    package internal(set) var lostBlobCount = 0
    /// Objects that were written, but have no version that verifies, by table.
    package internal(set) var lostObjectCounts: [TableID: Int] = [:]
    /// Sequence numbers of the incomplete transactions, ascending.
    package internal(set) var lostTransactions: [ClosedRange<UInt64>] = []
    /// Records of transactions that never ended, by the store; they were never visible.
    package internal(set) var unfinishedRecordCount = 0
    /// Bytes behind the last whole frame that no sync is known to have covered: a torn tail, as a crash leaves it.
    package internal(set) var tornByteCount: UInt64 = 0
    /// The largest number of bytes of memory that the budget counted.
    package internal(set) var peakByteCount = 0
    /// Whether the catalog could be read: without it, records are there by table and number, and indexes are not.
    package internal(set) var isCatalogReadable = true

    package init() {}

    /// The number of incomplete transactions.
    package var lostTransactionCount: UInt64 {
        lostTransactions.reduce(0) { $0 + ($1.upperBound - $1.lowerBound + 1) }
    }

    /// Whether visible data is missing in the new store, or may be in an older version.
    package var hasLoss: Bool {
        lostRangeCount > 0 || lostBlobCount > 0 || !lostObjectCounts.isEmpty || !lostTransactions.isEmpty
            || !possiblyOldCounts.isEmpty || !isCatalogReadable
    }
}
