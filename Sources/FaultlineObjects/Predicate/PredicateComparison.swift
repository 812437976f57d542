internal import Foundation

/// Compares predicates by their form and their values.
struct PredicateComparison {
    private static let depthMax = 1_024

    /// The variables of one predicate by those of the other: each predicate makes its own.
    private var partners: [PredicateExpressions.VariableID: PredicateExpressions.VariableID] = [:]

    static func areEqual<T>(_ left: Predicate<T>?, _ right: Predicate<T>?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        var comparison = PredicateComparison()
        comparison.partners[left.variable.key] = right.variable.key
        return comparison.isSame(left.expression, right.expression, 0)
    }

    /// Whether two nodes, or two of their parts, are the same.
    ///
    /// A predicate inside of another one brings variables of its own: a variable that is met first in its place on both
    /// sides has its partner there.
    private mutating func isSame(_ left: Any, _ right: Any, _ depth: Int) -> Bool {
        guard depth < Self.depthMax, type(of: left) == type(of: right) else { return false }
        if let left = left as? PredicateExpressions.VariableID, let right = right as? PredicateExpressions.VariableID {
            guard let partner = partners[left] else {
                if partners.values.contains(right) { return false }
                partners[left] = right
                return true
            }
            return partner == right
        }
        if let left = left as? any Equatable { return Self.equals(left, right) }
        let (leftParts, rightParts) = (Mirror(reflecting: left).children, Mirror(reflecting: right).children)
        guard leftParts.count == rightParts.count else { return false }
        if leftParts.isEmpty { return Self.isOneValue(left) || Self.isNil(left) || Self.isOneObject(left, right) }
        for (left, right) in zip(leftParts, rightParts) {
            guard left.label == right.label, isSame(left.value, right.value, depth + 1) else { return false }
        }
        return true
    }

    private static func equals<E: Equatable>(_ left: E, _ right: Any) -> Bool { (right as? E) == left }

    /// Whether a type without parts has a single value.
    private static func isOneValue(_ value: Any) -> Bool {
        func open<V>(_ value: V) -> Bool { MemoryLayout<V>.size == 0 }
        return _openExistential(value, do: open)
    }

    /// Whether a value without parts is nil.
    private static func isNil(_ value: Any) -> Bool { (value as? any OptionalNil)?.isNilValue ?? false }

    private static func isOneObject(_ left: Any, _ right: Any) -> Bool {
        guard type(of: left) is AnyClass else { return false }
        return left as AnyObject === right as AnyObject
    }
}
