import FaultlineModel
import FaultlineStore

/// Filters by Swift's own operators on decoded values: the reference for programs.
enum ReferenceFilter {
    static func matches(_ filter: RowFilter, _ row: RowView, _ layout: RowLayout) -> Bool {
        switch filter {
        case .always: true
        case .never: false
        case .and(let parts): parts.allSatisfy { matches($0, row, layout) }
        case .or(let parts): parts.contains { matches($0, row, layout) }
        case .not(let part): !matches(part, row, layout)
        case .isNil(let slot): row.isNil(slot)
        case .isDangling(let slot, let targets): targets.isGone(row.toOne(slot))
        case .isMember(let slot, let values):
            values.contains { matches(.compare(slot: slot, .equal, $0), row, layout) }
        case .containsText(let slot, let text): !row.isNil(slot) && contains(row.string(slot), text)
        case .beginsWith(let slot, let text): !row.isNil(slot) && row.string(slot).starts(with: text)
        case .compare(let slot, let comparison, let value):
            compare(row, slot, layout.columns[slot].kind, comparison, value)
        }
    }

    /// Containment as in Swift's collections: a window of equal characters.
    private static func contains(_ text: String, _ part: String) -> Bool {
        let (characters, wanted) = (Array(text), Array(part))
        guard characters.count >= wanted.count else { return false }
        return (0...characters.count - wanted.count).contains { Array(characters[$0..<$0 + wanted.count]) == wanted }
    }

    private static func compare(
        _ row: RowView,
        _ slot: Int,
        _ kind: ColumnKind,
        _ comparison: RowComparison,
        _ value: RowValue
    ) -> Bool {
        if value == .null {
            return comparison == .equal ? row.isNil(slot) : comparison == .notEqual ? !row.isNil(slot) : false
        }
        if row.isNil(slot) {
            if case .identifier(0) = value { return comparison == .equal }
            return comparison == .notEqual
        }
        switch value {
        case .null: return false
        case .bool(let right): return holds(comparison, row.bool(slot) == right, !row.bool(slot) && right)
        case .string(let right):
            let left = row.string(slot)
            return holds(comparison, left == right, isLess(left, right))
        case .data(let right):
            let left = Array(row.variable(slot))
            return holds(comparison, left == right, left.lexicographicallyPrecedes(right))
        case .uuid(let first, let second):
            let left = withUnsafeBytes(of: row.uuid(slot)) { Array($0) }
            let right = withUnsafeBytes(of: (first, second)) { Array($0) }
            return holds(comparison, left == right, left.lexicographicallyPrecedes(right))
        case .decimal(let right):
            let (left, right) = (decimal(row.decimal(slot)), decimal(right))
            return holds(comparison, left == right, left < right)
        case .identifier(let right):
            let left = kind == .toOne ? row.toOne(slot) : row.uint64(slot)
            return holds(comparison, left == right, left < right)
        case .int(let right):
            return number(
                row,
                slot,
                kind,
                comparison,
                equals: { $0 == right },
                isLess: { $0 < right },
                Double(right),
                right
            )
        case .uint(let right):
            return number(
                row,
                slot,
                kind,
                comparison,
                equals: { $0 == right },
                isLess: { $0 < right },
                Double(right),
                right
            )
        case .double(let right): return floating(row, slot, kind, comparison, right)
        case .float(let right): return floating(row, slot, kind, comparison, Double(right))
        }
    }

    private static func number<Integer: FixedWidthInteger>(
        _ row: RowView,
        _ slot: Int,
        _ kind: ColumnKind,
        _ comparison: RowComparison,
        equals: (Int128) -> Bool,
        isLess: (Int128) -> Bool,
        _ approximation: Double,
        _ integer: Integer
    ) -> Bool {
        if kind.isSignedInteger { return holds(comparison, row.int64(slot) == integer, row.int64(slot) < integer) }
        if kind.isUnsignedInteger { return holds(comparison, row.uint64(slot) == integer, row.uint64(slot) < integer) }
        if kind == .attribute(.decimal) {
            let (left, right) = (decimal(row.decimal(slot)), Int128(integer) * 1000)
            return holds(comparison, left == right, left < right)
        }
        let left = kind == .attribute(.float) ? Double(row.float(slot)) : row.double(slot)
        if left.isNaN { return comparison == .notEqual }
        if left.isInfinite { return holds(comparison, false, left < 0) }
        if abs(left) < 0x1p100 {
            let whole = Int128(left.rounded(.down))
            let isWhole = Double(whole) == left && left == left.rounded()
            return holds(comparison, isWhole && equals(whole), isLess(whole))
        }
        return holds(comparison, false, left < 0)
    }

    private static func floating(
        _ row: RowView,
        _ slot: Int,
        _ kind: ColumnKind,
        _ comparison: RowComparison,
        _ right: Double
    ) -> Bool {
        if kind.isInteger {
            if right.isNaN { return comparison == .notEqual }
            if right.isInfinite { return holds(comparison, false, right > 0) }
            let left = kind.isSignedInteger ? Int128(row.int64(slot)) : Int128(row.uint64(slot))
            if abs(right) >= 0x1p100 { return holds(comparison, false, right > 0) }
            let floor = Int128(right.rounded(.down))
            let isWhole = right == right.rounded()
            return holds(comparison, isWhole && left == floor, isWhole ? left < floor : left <= floor)
        }
        let left = kind == .attribute(.float) ? Double(row.float(slot)) : row.double(slot)
        switch comparison {
        case .equal: return left == right
        case .notEqual: return left != right
        case .less: return left < right
        case .lessOrEqual: return left <= right
        case .greater: return left > right
        case .greaterOrEqual: return left >= right
        }
    }

    private static func holds(_ comparison: RowComparison, _ isEqual: Bool, _ isLess: Bool) -> Bool {
        switch comparison {
        case .equal: isEqual
        case .notEqual: !isEqual
        case .less: isLess
        case .lessOrEqual: isLess || isEqual
        case .greater: !isLess && !isEqual
        case .greaterOrEqual: !isLess
        }
    }

    /// Swift's `<` on normal forms, where it never contradicts `==`.
    static func isLess(_ left: String, _ right: String) -> Bool {
        String(decoding: left._nfcCodeUnits, as: UTF8.self) < String(decoding: right._nfcCodeUnits, as: UTF8.self)
    }

    /// A decimal of small magnitude in thousandths; not-a-number is below all, as in Foundation's operators.
    private static func decimal(_ value: StoredDecimal) -> Int128 {
        if value.isNaN { return .min }
        var thousandths = Int128(value.mantissa)
        for _ in 0..<value.exponent + 3 { thousandths *= 10 }
        return value.isNegative ? -thousandths : thousandths
    }
}
