internal import Foundation

// Arithmetic whose result may not fit into its type. Integers of fixed width are checked; the other numbers,
// floating-point and decimal, have a value for every result.

/// An operation of two integers.
private enum CheckedArithmetic: String {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case remainder = "%"

    func result<I: FixedWidthInteger>(_ left: I, _ right: I) -> (partialValue: I, overflow: Bool) {
        switch self {
        case .add: left.addingReportingOverflow(right)
        case .subtract: left.subtractingReportingOverflow(right)
        case .multiply: left.multipliedReportingOverflow(by: right)
        case .divide: left.dividedReportingOverflow(by: right)
        case .remainder: left.remainderReportingOverflow(dividingBy: right)
        }
    }
}

/// Checks an operation if its type is an integer of fixed width; nil for another type.
private func checking<L: PredicateExpression, R: PredicateExpression>(
    _ left: L, _ operation: CheckedArithmetic, _ right: R
) -> CheckedExpression<L.Output>? where L.Output == R.Output {
    guard let type = L.Output.self as? any FixedWidthInteger.Type else { return nil }
    func open<I: FixedWidthInteger>(_ type: I.Type) -> AnyObject? {
        let operands = (CheckedExpression.make(left) as AnyObject, CheckedExpression.make(right) as AnyObject)
        guard let one = operands.0 as? CheckedExpression<I>, let other = operands.1 as? CheckedExpression<I> else {
            return nil
        }
        return CheckedExpression<I>(one.arithmeticCount + other.arithmeticCount + 1) { bindings in
            let (first, second) = (try one.value(bindings), try other.value(bindings))
            let (value, isWrong) = operation.result(first, second)
            guard isWrong else { return value }
            let isByZero = second == 0 && (operation == .divide || operation == .remainder)
            throw ArithmeticFailure(
                text: "\(first) \(operation.rawValue) \(second) \(isByZero ? "divides by zero" : "exceeds \(I.self)")",
                keyPaths: ReadKeyPaths.all(in: left) + ReadKeyPaths.all(in: right))
        }
    }
    return open(type) as? CheckedExpression<L.Output>
}

extension PredicateExpressions.Arithmetic: CheckableNode {
    func checked() -> CheckedExpression<Output> {
        let operation: CheckedArithmetic? =
            switch op {
            case .add: .add
            case .subtract: .subtract
            case .multiply: .multiply
            @unknown default: nil
            }
        if let made = operation.flatMap({ checking(lhs, $0, rhs) }) { return made }
        let (left, right, op) = (CheckedExpression.make(lhs), CheckedExpression.make(rhs), op)
        return CheckedExpression(left.arithmeticCount + right.arithmeticCount + 1) { bindings in
            let (first, second) = (try left.value(bindings), try right.value(bindings))
            switch op {
            case .add: return first + second
            case .subtract: return first - second
            case .multiply: return first * second
            @unknown default: throw PredicateError.invalidInput
            }
        }
    }
}

extension PredicateExpressions.IntDivision: CheckableNode {
    func checked() -> CheckedExpression<Output> {
        checking(lhs, .divide, rhs) ?? CheckedExpression(0) { [self] in try evaluate($0) }
    }
}

extension PredicateExpressions.IntRemainder: CheckableNode {
    func checked() -> CheckedExpression<Output> {
        checking(lhs, .remainder, rhs) ?? CheckedExpression(0) { [self] in try evaluate($0) }
    }
}

extension PredicateExpressions.FloatDivision: CheckableNode {
    func checked() -> CheckedExpression<Output> {
        let (left, right) = (CheckedExpression.make(lhs), CheckedExpression.make(rhs))
        return CheckedExpression(left.arithmeticCount + right.arithmeticCount) {
            try left.value($0) / right.value($0)
        }
    }
}

extension PredicateExpressions.UnaryMinus: CheckableNode {
    func checked() -> CheckedExpression<Output> {
        let zero = PredicateExpressions.Value<Output>(.zero)
        if let made = checking(zero, .subtract, wrapped) { return made }
        let wrapped = CheckedExpression.make(wrapped)
        return CheckedExpression(wrapped.arithmeticCount + 1) { try -wrapped.value($0) }
    }
}

/// A part of a collection whose bounds are outside of it is an error, and does not end the process.
extension PredicateExpressions.CollectionRangeSubscript: CheckableNode {
    func checked() -> CheckedExpression<Output> {
        let (wrapped, range) = (CheckedExpression.make(wrapped), CheckedExpression.make(range))
        return CheckedExpression(wrapped.arithmeticCount + range.arithmeticCount) { bindings in
            let (collection, part) = (try wrapped.value(bindings), try range.value(bindings))
            guard collection.startIndex <= part.lowerBound, part.upperBound <= collection.endIndex else {
                throw PredicateError.invalidInput
            }
            return collection[part]
        }
    }
}

/// The properties that a part of a predicate reads.
private enum ReadKeyPaths {
    static func all(in expression: Any, depth: Int = 0) -> [AnyKeyPath] {
        guard depth < 256, expression is any PredicateExpression else { return [] }
        if let node = expression as? any KeyPathNode, node.isOfVariable { return [node.readKeyPath] }
        return Mirror(reflecting: expression).children.flatMap { all(in: $0.value, depth: depth + 1) }
    }
}

/// A node that reads a property.
private protocol KeyPathNode {
    var readKeyPath: AnyKeyPath { get }
    /// Whether the property belongs to the predicate's input, not to a value inside it.
    var isOfVariable: Bool { get }
}

extension PredicateExpressions.KeyPath: KeyPathNode {
    fileprivate var readKeyPath: AnyKeyPath { keyPath }
    fileprivate var isOfVariable: Bool { root is PredicateExpressions.Variable<Root.Output> }
}
