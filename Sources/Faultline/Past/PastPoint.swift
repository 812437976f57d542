public import FaultlineObjects
public import Foundation

/// A state that a store once had.
public enum PastPoint: Sendable, Hashable {
    /// The state after a transaction, by the number that backups and `faultline info` give.
    case transaction(UInt64)
    /// The state at a time, by the store's clock.
    case date(Date)
    /// The state after the save with this token; the store must record its history.
    case token(DefaultHistoryToken)
}
