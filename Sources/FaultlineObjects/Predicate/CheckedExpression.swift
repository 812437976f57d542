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
    /// Prepares a node.
    ///
    /// A node that this release does not know is evaluated by Foundation, with everything inside it, if properties are
    /// read from objects. On rows it gives up.
    ///
    /// - Parameters:
    ///   - node: The node.
    ///   - rows: The rows that properties are read from; nil to read them from objects.
    /// - Returns: The prepared node.
    static func make<E: PredicateExpression>(_ node: E, _ rows: RowScope?) -> CheckedExpression<Output>
    where E.Output == Output {
        if Output.self == Bool.self, let rows, let condition = rows.condition(node) as? CheckedExpression<Output> {
            return condition
        }
        if let known = node as? any CheckableNode, let made = known.checkedAny(rows) as? CheckedExpression<Output> {
            return made
        }
        if let rows { return rows.giveUp() }
        return CheckedExpression(0) { try node.evaluate($0) }
    }
}

extension CheckedExpression<Bool> {
    /// Prepares a node whose type is known only at run time.
    static func opening(_ node: any PredicateExpression<Bool>, _ rows: RowScope?) -> CheckedExpression<Bool> {
        func open<E: PredicateExpression>(_ node: E) -> CheckedExpression<Bool> where E.Output == Bool {
            CheckedExpression<Bool>.make(node, rows)
        }
        return open(node)
    }
}

/// A node in which arithmetic can be checked, and whose properties can be read from rows.
protocol CheckableNode<Output>: PredicateExpression {
    func checked(_ rows: RowScope?) -> CheckedExpression<Output>
}

extension CheckableNode {
    fileprivate func checkedAny(_ rows: RowScope?) -> AnyObject { checked(rows) }
}

/// A node of two others; `own` is 1 if the node itself may have no result.
func joined<L: PredicateExpression, R: PredicateExpression, Output>(
    _ left: L, _ right: R, _ rows: RowScope?, own: Int = 0,
    _ body: @escaping (CheckedExpression<L.Output>, CheckedExpression<R.Output>, PredicateBindings) throws -> Output
) -> CheckedExpression<Output> {
    let (left, right) = (CheckedExpression.make(left, rows), CheckedExpression.make(right, rows))
    return CheckedExpression(left.arithmeticCount + right.arithmeticCount + own) { try body(left, right, $0) }
}

/// A node that tests elements of a sequence, one after the other as the value of a variable.
private func testing<S: PredicateExpression, T: PredicateExpression, Output>(
    _ sequence: S, _ variable: PredicateExpressions.Variable<S.Output.Element>, _ test: T, _ rows: RowScope?,
    _ body: @escaping (S.Output, (S.Output.Element) throws -> Bool) throws -> Output
) -> CheckedExpression<Output> where S.Output: Sequence, T.Output == Bool {
    joined(sequence, test, rows) { sequence, test, bindings in
        var inner = bindings
        return try body(sequence.value(bindings)) {
            inner[variable] = $0
            return try test.value(inner)
        }
    }
}

// MARK: Conditions

extension PredicateExpressions.Conjunction: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Bool> {
        joined(lhs, rhs, rows) { try $0.value($2) && $1.value($2) }
    }
}

extension PredicateExpressions.Disjunction: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Bool> {
        joined(lhs, rhs, rows) { try $0.value($2) || $1.value($2) }
    }
}

extension PredicateExpressions.Negation: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Bool> {
        let wrapped = CheckedExpression.make(wrapped, rows)
        return CheckedExpression(wrapped.arithmeticCount) { try !wrapped.value($0) }
    }
}

extension PredicateExpressions.Equal: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Bool> {
        rows?.isNil(lhs, rhs) ?? joined(lhs, rhs, rows) { try $0.value($2) == $1.value($2) }
    }
}

extension PredicateExpressions.NotEqual: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Bool> {
        if let isNil = rows?.isNil(lhs, rhs) { return CheckedExpression(0) { try !isNil.value($0) } }
        return joined(lhs, rhs, rows) { try $0.value($2) != $1.value($2) }
    }
}

extension PredicateExpressions.Comparison: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Bool> {
        switch op {
        case .lessThan: joined(lhs, rhs, rows) { try $0.value($2) < $1.value($2) }
        case .lessThanOrEqual: joined(lhs, rhs, rows) { try $0.value($2) <= $1.value($2) }
        case .greaterThan: joined(lhs, rhs, rows) { try $0.value($2) > $1.value($2) }
        case .greaterThanOrEqual: joined(lhs, rhs, rows) { try $0.value($2) >= $1.value($2) }
        @unknown default: rows?.giveUp() ?? CheckedExpression(0) { [self] in try evaluate($0) }
        }
    }
}

extension PredicateExpressions.Conditional: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Output> {
        let test = CheckedExpression.make(test, rows)
        let (yes, no) = (CheckedExpression.make(trueBranch, rows), CheckedExpression.make(falseBranch, rows))
        return CheckedExpression(test.arithmeticCount + yes.arithmeticCount + no.arithmeticCount) {
            try test.value($0) ? yes.value($0) : no.value($0)
        }
    }
}

// MARK: Optional values

extension PredicateExpressions.NilCoalesce: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Output> {
        joined(lhs, rhs, rows) { try $0.value($2) ?? $1.value($2) }
    }
}

extension PredicateExpressions.ForcedUnwrap: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Output> {
        let inner = CheckedExpression.make(inner, rows)
        return CheckedExpression(inner.arithmeticCount) { bindings in
            guard let value = try inner.value(bindings) else { throw PredicateError.forceUnwrapFailure }
            return value
        }
    }
}

extension PredicateExpressions.OptionalFlatMap: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Output> {
        if let rows, let made = checkedRows(rows) { return made }
        let variable = variable
        return joined(wrapped, transform, rows) { wrapped, transform, bindings in
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
    func checked(_ rows: RowScope?) -> CheckedExpression<Output> {
        if let rows, let made = checkedRows(rows) { return made }
        let root = CheckedExpression.make(root, rows)
        let keyPath = keyPath
        return CheckedExpression(root.arithmeticCount) { try root.value($0)[keyPath: keyPath] }
    }
}

extension PredicateExpressions.SequenceContains: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Bool> {
        joined(sequence, element, rows) { try $0.value($2).contains($1.value($2)) }
    }
}

extension PredicateExpressions.SequenceContainsWhere: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Bool> {
        if let rows, let (members, test) = rows.members(sequence, variable, test) {
            return CheckedExpression(test.arithmeticCount) { bindings in
                try members.contains(bindings) { try test.value(bindings) }
            }
        }
        return testing(sequence, variable, test, rows) { sequence, test in try sequence.contains(where: test) }
    }
}

extension PredicateExpressions.SequenceAllSatisfy: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Bool> {
        if let rows, let (members, test) = rows.members(sequence, variable, test) {
            return CheckedExpression(test.arithmeticCount) { bindings in
                try !members.contains(bindings) { try !test.value(bindings) }
            }
        }
        return testing(sequence, variable, test, rows) { sequence, test in try sequence.allSatisfy(test) }
    }
}

extension PredicateExpressions.Filter: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Output> {
        testing(sequence, variable, filter, rows) { sequence, test in try sequence.filter(test) }
    }
}

extension PredicateExpressions.CollectionIndexSubscript: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Output> {
        joined(wrapped, self.index, rows, own: 1) { wrapped, index, bindings in
            let (collection, place) = (try wrapped.value(bindings), try index.value(bindings))
            guard collection.indices.contains(place) else { throw PredicateError.invalidInput }
            return collection[place]
        }
    }
}

extension PredicateExpressions.SequenceMaximum: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Output> {
        let elements = CheckedExpression.make(elements, rows)
        return CheckedExpression(elements.arithmeticCount) { try elements.value($0).max() }
    }
}

extension PredicateExpressions.SequenceMinimum: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Output> {
        let elements = CheckedExpression.make(elements, rows)
        return CheckedExpression(elements.arithmeticCount) { try elements.value($0).min() }
    }
}

// MARK: Ranges

extension PredicateExpressions.RangeExpressionContains: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Bool> {
        if let bounds = range as? any BoundedRange, let made = bounds.containing(element, rows) { return made }
        return joined(range, element, rows) { try $0.value($2).contains($1.value($2)) }
    }
}

/// A range of two bounds that are expressions.
///
/// A range whose bounds are reversed contains nothing.
private protocol BoundedRange {
    /// Prepares the test whether the range contains an element; nil if the element has another type.
    func containing<E: PredicateExpression>(_ element: E, _ rows: RowScope?) -> CheckedExpression<Bool>?
}

/// Prepares a comparison of an element with two bounds, without making the range.
private func between<L: PredicateExpression, U: PredicateExpression, E: PredicateExpression>(
    _ lower: L, _ upper: U, _ element: E, _ rows: RowScope?, _ isBelow: @escaping (L.Output, L.Output) -> Bool
) -> CheckedExpression<Bool>? where L.Output: Comparable, U.Output == L.Output {
    guard let element = CheckedExpression<E.Output>.make(element, rows) as? CheckedExpression<L.Output> else {
        return nil
    }
    let (lower, upper) = (CheckedExpression.make(lower, rows), CheckedExpression.make(upper, rows))
    return CheckedExpression(lower.arithmeticCount + upper.arithmeticCount + element.arithmeticCount + 1) {
        let value = try element.value($0)
        return try lower.value($0) <= value && isBelow(value, upper.value($0))
    }
}

extension PredicateExpressions.Range: CheckableNode, BoundedRange {
    func checked(_ rows: RowScope?) -> CheckedExpression<Output> {
        joined(lower, upper, rows, own: 1) { lower, upper, bindings in
            let (low, high) = (try lower.value(bindings), try upper.value(bindings))
            guard low <= high else { throw PredicateError.invalidInput }
            return low..<high
        }
    }

    fileprivate func containing<E: PredicateExpression>(_ element: E, _ rows: RowScope?) -> CheckedExpression<Bool>? {
        between(lower, upper, element, rows, <)
    }
}

extension PredicateExpressions.ClosedRange: CheckableNode, BoundedRange {
    func checked(_ rows: RowScope?) -> CheckedExpression<Output> {
        joined(lower, upper, rows, own: 1) { lower, upper, bindings in
            let (low, high) = (try lower.value(bindings), try upper.value(bindings))
            guard low <= high else { throw PredicateError.invalidInput }
            return low...high
        }
    }

    fileprivate func containing<E: PredicateExpression>(_ element: E, _ rows: RowScope?) -> CheckedExpression<Bool>? {
        between(lower, upper, element, rows, <=)
    }
}
