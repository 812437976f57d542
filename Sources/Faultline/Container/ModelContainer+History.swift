public import Foundation
internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore

/// The space that the history of a store takes.
public struct HistoryUsage: Hashable, Sendable {
    /// Bytes of its records.
    public let byteCount: Int
    /// Its records: one for each save, and more for very large ones.
    public let recordCount: Int
    /// When the oldest save in the history was made; nil if there is none.
    public let oldest: Date?
}

extension ModelContainer {
    /// Measures the space that the history takes now.
    ///
    /// - Complexity: Reads the pages of its table, one for 336 saves, and its first record.
    /// - Throws: `StorageError` if the store cannot be read.
    public func historyUsage() throws -> HistoryUsage {
        try checkIsOfOneStore("historyUsage()")
        return try StorageError.translating {
            let snapshot = rowStore.log.snapshot()
            var oldest: Date?
            try snapshot.forEachTransaction(after: 0) { transaction in
                oldest = Date(timeIntervalSince1970: Double(transaction.microseconds) / 1_000_000)
                return false
            }
            return HistoryUsage(
                byteCount: try snapshot.recordByteCount(of: .history),
                recordCount: snapshot.recordCount(of: .history), oldest: oldest)
        }
    }
}
