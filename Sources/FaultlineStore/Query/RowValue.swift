/// A value that a filter compares a slot with.
///
/// Any integer can be compared with any integer or floating-point slot, and any floating-point number likewise: the
/// comparison is exact. Dates are doubles, seconds since 1 January 2001 UTC.
package enum RowValue: Sendable, Hashable {
    case bool(Bool)
    case int(Int64)
    case uint(UInt64)
    case double(Double)
    case float(Float)
    case string(String)
    case data([UInt8])
    /// The 16 bytes as two little-endian words, first bytes first.
    case uuid(UInt64, UInt64)
    case decimal(StoredDecimal)
    /// A to-one relationship's target as the slot stores it.
    case identifier(UInt64)
    case null
}

/// How a filter compares a slot with a value.
package enum RowComparison: Sendable, Hashable, CaseIterable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

    /// Whether the comparison holds for two values of which the first is below (−1), equal to (0) or above (1) the
    /// second.
    @inline(__always)
    func holds(_ order: Int) -> Bool {
        switch self {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }
}
