internal import FaultlineLog

/// The state that is looked for in a log.
enum StateGoal {
    case transaction(UInt64)
    case time(Int64)
    case newest

    /// Whether the state has a transaction.
    func has(_ end: LogPlace) -> Bool {
        switch self {
        case .transaction(let sequence): end.sequence <= sequence
        case .time(let nanoseconds): end.clockNanoseconds <= nanoseconds
        case .newest: true
        }
    }

    /// Whether the newest state of the log may be the wanted one.
    var isOpen: Bool { if case .transaction = self { false } else { true } }

    var isNewest: Bool { if case .newest = self { true } else { false } }

    /// Whether a transaction is known to be the last one of the state.
    func isEnd(_ end: LogPlace) -> Bool {
        if case .transaction(end.sequence) = self { true } else { false }
    }

    /// Whether transactions behind one may belong to the state.
    func goesOn(behind end: LogPlace) -> Bool {
        switch self {
        case .transaction(let sequence): end.sequence < sequence
        // A clock that was set back may have later ones.
        case .time, .newest: true
        }
    }
}
