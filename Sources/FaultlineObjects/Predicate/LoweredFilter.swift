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
    func and(_ other: LoweredFilter) -> LoweredFilter { .all([self, other]) }

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

    /// The objects that satisfy each of some parts.
    static func all(_ parts: [LoweredFilter]) -> LoweredFilter {
        if parts.count == 1 { return parts[0] }
        var all = LoweredFilter(filter: .and(parts.map(\.filter)), isExact: parts.allSatisfy(\.isExact))
        for candidates in parts.compactMap(\.candidates) {
            all.candidates = all.candidates?.intersection(candidates) ?? candidates
        }
        return all
    }

    /// The objects that satisfy at least one of some parts.
    static func any(_ parts: [LoweredFilter]) -> LoweredFilter {
        guard parts.allSatisfy({ $0.candidates == nil }) else {
            return parts.dropFirst().reduce(parts[0]) { $0.or($1) }
        }
        return LoweredFilter(filter: .or(parts.map(\.filter)), isExact: parts.allSatisfy(\.isExact))
    }

    /// The objects that do not satisfy it.
    var negated: LoweredFilter {
        guard isExact, candidates == nil else { return .unknown }
        return LoweredFilter(filter: .not(filter), isExact: true)
    }
}
