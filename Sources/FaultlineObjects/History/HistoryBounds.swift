internal import Foundation

/// The bounds that a predicate sets for the token, so that nothing before them needs to be read.
struct HistoryBounds {
    /// After this one.
    private(set) var after: DefaultHistoryToken?
    /// This one, or after it.
    private(set) var from: DefaultHistoryToken?

    init(_ predicate: Predicate<DefaultHistoryTransaction>?) {
        guard let predicate else { return }
        add(predicate.expression)
    }

    /// Evaluates a condition that must hold.
    fileprivate mutating func add(_ expression: Any) {
        if let both = expression as? any HistoryConjunction {
            both.parts.forEach { add($0) }
        } else if let comparison = expression as? any HistoryComparison, let bound = comparison.bound {
            if bound.isIncluded {
                from = from.map { max($0, bound.token) } ?? bound.token
            } else {
                after = after.map { max($0, bound.token) } ?? bound.token
            }
        }
    }
}

private protocol HistoryConjunction {
    var parts: [Any] { get }
}

extension PredicateExpressions.Conjunction: HistoryConjunction {
    fileprivate var parts: [Any] { [lhs, rhs] }
}

private protocol HistoryComparison {
    /// The least token that satisfies the condition.
    var bound: (token: DefaultHistoryToken, isIncluded: Bool)? { get }
}

extension PredicateExpressions.Comparison: HistoryComparison {
    fileprivate var bound: (token: DefaultHistoryToken, isIncluded: Bool)? {
        switch op {
        case .greaterThan: token(rhs, isToken: lhs).map { ($0, false) }
        case .greaterThanOrEqual: token(rhs, isToken: lhs).map { ($0, true) }
        case .lessThan: token(lhs, isToken: rhs).map { ($0, false) }
        case .lessThanOrEqual: token(lhs, isToken: rhs).map { ($0, true) }
        @unknown default: nil
        }
    }
}

extension PredicateExpressions.Equal: HistoryComparison {
    fileprivate var bound: (token: DefaultHistoryToken, isIncluded: Bool)? {
        (token(rhs, isToken: lhs) ?? token(lhs, isToken: rhs)).map { ($0, true) }
    }
}

/// The value of one side, if the other is the transaction's token.
private func token<Value: PredicateExpression>(_ value: Value, isToken other: Any) -> DefaultHistoryToken? {
    guard let path = other as? any HistoryPath, path.isToken else { return nil }
    // An expression that uses the transaction has no value by itself.
    return try? value.evaluate(PredicateBindings()) as? DefaultHistoryToken
}

private protocol HistoryPath {
    var isToken: Bool { get }
}

extension PredicateExpressions.KeyPath: HistoryPath {
    fileprivate var isToken: Bool {
        keyPath as AnyKeyPath == \DefaultHistoryTransaction.token && root is any VariablePart
    }
}

private protocol VariablePart {}
extension PredicateExpressions.Variable: VariablePart {}
