public import FaultlineObjects
public import Foundation

/// A state that a store once had.
public enum PastPoint: Sendable, Hashable {
    /// The state after a transaction, by the number that backups and `faultline info` give.
    case transaction(UInt64)
    /// The state at a time, by the clock of the machine that saved it.
    ///
    /// A save belongs to the time at which it ended, which is later than the timestamp of its transaction in the
    /// history: use `token` for the state after a certain save.
    case date(Date)
    /// The state after the save with this token; the store must record its history.
    case token(DefaultHistoryToken)
}
