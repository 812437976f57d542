internal import Foundation

/// An expression of a predicate, prepared for evaluation with checked arithmetic.
final class CheckedExpression<Output> {
    let value: (PredicateBindings) throws -> Output
    /// The number of its checked operations that may have no result.
    let arithmeticCount: Int

    init(_ arithmeticCount: Int, _ value: @escaping (PredicateBindings) throws -> Output) {
        self.arithmeticCount = arithmeticCount
        self.value = value
    }
}

extension CheckedExpression {
    /// Prepares a node; a node that this release does not know is evaluated by Foundation, with everything inside it.
    static func make<E: PredicateExpression>(_ node: E) -> CheckedExpression<Output> where E.Output == Output {
        if let known = node as? any CheckableNode, let made = known.checkedAny() as? CheckedExpression<Output> {
            return made
        }
        return CheckedExpression(0) { try node.evaluate($0) }
    }
}

extension CheckedExpression<Bool> {
    /// Prepares a node whose type is known only at run time.
    static func opening(_ node: any PredicateExpression<Bool>) -> CheckedExpression<Bool> {
        func open<E: PredicateExpression>(_ node: E) -> CheckedExpression<Bool> where E.Output == Bool {
            CheckedExpression<Bool>.make(node)
        }
        return open(node)
    }
}

/// A node in which arithmetic can be checked.
protocol CheckableNode<Output>: PredicateExpression {
    func checked() -> CheckedExpression<Output>
}

extension CheckableNode {
    fileprivate func checkedAny() -> AnyObject { checked() }
}

/// A node of two others; `own` is 1 if the node itself may have no result.
private func joined<L: PredicateExpression, R: PredicateExpression, Output>(
    _ left: L, _ right: R, own: Int = 0,
    _ body: @escaping (CheckedExpression<L.Output>, CheckedExpression<R.Output>, PredicateBindings) throws -> Output
) -> CheckedExpression<Output> {
    let (left, right) = (CheckedExpression.make(left), CheckedExpression.make(right))
    return CheckedExpression(left.arithmeticCount + right.arithmeticCount + own) { try body(left, right, $0) }
}

/// A node that tests elements of a sequence, one after the other as the value of a variable.
private func testing<S: PredicateExpression, T: PredicateExpression, Output>(
    _ sequence: S, _ variable: PredicateExpressions.Variable<S.Output.Element>, _ test: T,
    _ body: @escaping (S.Output, (S.Output.Element) throws -> Bool) throws -> Output
) -> CheckedExpression<Output> where S.Output: Sequence, T.Output == Bool {
    joined(sequence, test) { sequence, test, bindings in
        var inner = bindings
        return try body(sequence.value(bindings)) {
            inner[variable] = $0
            return try test.value(inner)
        }
    }
}

// MARK: Conditions

extension PredicateExpressions.Conjunction: CheckableNode {
    func checked() -> CheckedExpression<Bool> { joined(lhs, rhs) { try $0.value($2) && $1.value($2) } }
}

extension PredicateExpressions.Disjunction: CheckableNode {
    func checked() -> CheckedExpression<Bool> { joined(lhs, rhs) { try $0.value($2) || $1.value($2) } }
}

extension PredicateExpressions.Negation: CheckableNode {
    func checked() -> CheckedExpression<Bool> {
        let wrapped = CheckedExpression.make(wrapped)
        return CheckedExpression(wrapped.arithmeticCount) { try !wrapped.value($0) }
    }
}

extension PredicateExpressions.Equal: CheckableNode {
    func checked() -> CheckedExpression<Bool> { joined(lhs, rhs) { try $0.value($2) == $1.value($2) } }
}

extension PredicateExpressions.NotEqual: CheckableNode {
    func checked() -> CheckedExpression<Bool> { joined(lhs, rhs) { try $0.value($2) != $1.value($2) } }
}

extension PredicateExpressions.Comparison: CheckableNode {
    func checked() -> CheckedExpression<Bool> {
        switch op {
        case .lessThan: joined(lhs, rhs) { try $0.value($2) < $1.value($2) }
        case .lessThanOrEqual: joined(lhs, rhs) { try $0.value($2) <= $1.value($2) }
        case .greaterThan: joined(lhs, rhs) { try $0.value($2) > $1.value($2) }
        case .greaterThanOrEqual: joined(lhs, rhs) { try $0.value($2) >= $1.value($2) }
        @unknown default: CheckedExpression(0) { [self] in try evaluate($0) }
        }
    }
}

extension PredicateExpressions.Conditional: CheckableNode {
    func checked() -> CheckedExpression<Output> {
        let test = CheckedExpression.make(test)
        let (yes, no) = (CheckedExpression.make(trueBranch), CheckedExpression.make(falseBranch))
        return CheckedExpression(test.arithmeticCount + yes.arithmeticCount + no.arithmeticCount) {
            try test.value($0) ? yes.value($0) : no.value($0)
        }
    }
}

// MARK: Optional values

extension PredicateExpressions.NilCoalesce: CheckableNode {
    func checked() -> CheckedExpression<Output> { joined(lhs, rhs) { try $0.value($2) ?? $1.value($2) } }
}

extension PredicateExpressions.ForcedUnwrap: CheckableNode {
    func checked() -> CheckedExpression<Output> {
        let inner = CheckedExpression.make(inner)
        return CheckedExpression(inner.arithmeticCount) { bindings in
            guard let value = try inner.value(bindings) else { throw PredicateError.forceUnwrapFailure }
            return value
        }
    }
}

extension PredicateExpressions.OptionalFlatMap: CheckableNode {
    func checked() -> CheckedExpression<Output> {
        let variable = variable
        return joined(wrapped, transform) { wrapped, transform, bindings in
            guard let value = try wrapped.value(bindings) else { return nil }
            var inner = bindings
            inner[variable] = value
            // The transform returns a value or an optional.
            return try transform.value(inner) as? Result
        }
    }
}

// MARK: Collections

extension PredicateExpressions.KeyPath: CheckableNode {
    func checked() -> CheckedExpression<Output> {
        let root = CheckedExpression.make(root)
        let keyPath = keyPath
        return CheckedExpression(root.arithmeticCount) { try root.value($0)[keyPath: keyPath] }
    }
}

extension PredicateExpressions.SequenceContains: CheckableNode {
    func checked() -> CheckedExpression<Bool> {
        joined(sequence, element) { try $0.value($2).contains($1.value($2)) }
    }
}

extension PredicateExpressions.SequenceContainsWhere: CheckableNode {
    func checked() -> CheckedExpression<Bool> {
        testing(sequence, variable, test) { sequence, test in try sequence.contains(where: test) }
    }
}

extension PredicateExpressions.SequenceAllSatisfy: CheckableNode {
    func checked() -> CheckedExpression<Bool> {
        testing(sequence, variable, test) { sequence, test in try sequence.allSatisfy(test) }
    }
}

extension PredicateExpressions.Filter: CheckableNode {
    func checked() -> CheckedExpression<Output> {
        testing(sequence, variable, filter) { sequence, test in try sequence.filter(test) }
    }
}

extension PredicateExpressions.CollectionIndexSubscript: CheckableNode {
    func checked() -> CheckedExpression<Output> {
        joined(wrapped, self.index, own: 1) { wrapped, index, bindings in
            let (collection, place) = (try wrapped.value(bindings), try index.value(bindings))
            guard collection.indices.contains(place) else { throw PredicateError.invalidInput }
            return collection[place]
        }
    }
}

extension PredicateExpressions.SequenceMaximum: CheckableNode {
    func checked() -> CheckedExpression<Output> {
        let elements = CheckedExpression.make(elements)
        return CheckedExpression(elements.arithmeticCount) { try elements.value($0).max() }
    }
}

extension PredicateExpressions.SequenceMinimum: CheckableNode {
    func checked() -> CheckedExpression<Output> {
        let elements = CheckedExpression.make(elements)
        return CheckedExpression(elements.arithmeticCount) { try elements.value($0).min() }
    }
}

// MARK: Ranges

extension PredicateExpressions.RangeExpressionContains: CheckableNode {
    func checked() -> CheckedExpression<Bool> {
        if let bounds = range as? any BoundedRange, let made = bounds.containing(element) { return made }
        return joined(range, element) { try $0.value($2).contains($1.value($2)) }
    }
}

/// A range of two bounds that are expressions.
///
/// A range whose bounds are reversed contains nothing.
private protocol BoundedRange {
    /// Prepares the test whether the range contains an element; nil if the element has another type.
    func containing<E: PredicateExpression>(_ element: E) -> CheckedExpression<Bool>?
}

/// Prepares a comparison of an element with two bounds, without making the range.
private func between<L: PredicateExpression, U: PredicateExpression, E: PredicateExpression>(
    _ lower: L, _ upper: U, _ element: E, _ isBelow: @escaping (L.Output, L.Output) -> Bool
) -> CheckedExpression<Bool>? where L.Output: Comparable, U.Output == L.Output {
    guard let element = CheckedExpression<E.Output>.make(element) as? CheckedExpression<L.Output> else { return nil }
    let (lower, upper) = (CheckedExpression.make(lower), CheckedExpression.make(upper))
    return CheckedExpression(lower.arithmeticCount + upper.arithmeticCount + element.arithmeticCount + 1) {
        let value = try element.value($0)
        return try lower.value($0) <= value && isBelow(value, upper.value($0))
    }
}

extension PredicateExpressions.Range: CheckableNode, BoundedRange {
    func checked() -> CheckedExpression<Output> {
        joined(lower, upper, own: 1) { lower, upper, bindings in
            let (low, high) = (try lower.value(bindings), try upper.value(bindings))
            guard low <= high else { throw PredicateError.invalidInput }
            return low..<high
        }
    }

    fileprivate func containing<E: PredicateExpression>(_ element: E) -> CheckedExpression<Bool>? {
        between(lower, upper, element, <)
    }
}

extension PredicateExpressions.ClosedRange: CheckableNode, BoundedRange {
    func checked() -> CheckedExpression<Output> {
        joined(lower, upper, own: 1) { lower, upper, bindings in
            let (low, high) = (try lower.value(bindings), try upper.value(bindings))
            guard low <= high else { throw PredicateError.invalidInput }
            return low...high
        }
    }

    fileprivate func containing<E: PredicateExpression>(_ element: E) -> CheckedExpression<Bool>? {
        between(lower, upper, element, <=)
    }
}
