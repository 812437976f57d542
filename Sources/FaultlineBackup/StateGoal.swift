internal import FaultlineLog

/// The state that is looked for in a log.
enum StateGoal {
    case transaction(UInt64)
    case time(Int64)

    /// Whether the state has a transaction.
    func has(_ end: LogPlace) -> Bool {
        switch self {
        case .transaction(let sequence): end.sequence <= sequence
        case .time(let nanoseconds): end.clockNanoseconds <= nanoseconds
        }
    }

    /// Whether transactions behind one may belong to the state.
    func goesOn(behind end: LogPlace) -> Bool {
        switch self {
        case .transaction(let sequence): end.sequence < sequence
        // A clock that was set back may have later ones.
        case .time: true
        }
    }

    /// Whether the state is older than a place.
    func isBefore(_ place: LogPlace) -> Bool { !has(place) }
}
