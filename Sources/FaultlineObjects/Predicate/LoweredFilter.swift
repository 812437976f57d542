internal import FaultlineStore

/// The part of a predicate that can be evaluated on the stored bytes.
struct LoweredFilter {
    /// True for every object that satisfies the predicate; true for others only if `isExact` is false.
    var filter: RowFilter
    /// Whether the filter equals the predicate: no object must be made to decide.
    var isExact: Bool
    /// The only objects that can satisfy it; nil for no such bound.
    var candidates: Set<UInt64>?

    static let unknown = LoweredFilter(filter: .always, isExact: false)
    static let everything = LoweredFilter(filter: .always, isExact: true)
    static let nothing = LoweredFilter(filter: .never, isExact: true)

    /// The objects that satisfy both.
    func and(_ other: LoweredFilter) -> LoweredFilter {
        var both = LoweredFilter(filter: .and([filter, other.filter]), isExact: isExact && other.isExact)
        switch (candidates, other.candidates) {
        case (let some?, let others?): both.candidates = some.intersection(others)
        case (let some?, nil), (nil, let some?): both.candidates = some
        case (nil, nil): break
        }
        return both
    }

    /// The objects that satisfy at least one of them.
    func or(_ other: LoweredFilter) -> LoweredFilter {
        switch (candidates, other.candidates) {
        case (nil, nil): return LoweredFilter(filter: .or([filter, other.filter]), isExact: isExact && other.isExact)
        case (let some?, let others?):
            // A condition on the candidates of one side does not apply to those of the other.
            let isExact = isExact && other.isExact && filter == .always && other.filter == .always
            return LoweredFilter(
                filter: .or([filter, other.filter]), isExact: isExact, candidates: some.union(others))
        default: return .unknown
        }
    }

    /// The objects that do not satisfy it.
    var negated: LoweredFilter {
        guard isExact, candidates == nil else { return .unknown }
        return LoweredFilter(filter: .not(filter), isExact: true)
    }
}
