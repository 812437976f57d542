internal import FaultlineModel
internal import Foundation

/// A predicate with arithmetic, evaluated so that a result that its type cannot hold is an error.
///
/// Foundation's own evaluation would end the process, for an overflow and for a division by zero. Foundation evaluates
/// predicates without integer arithmetic.
struct CheckedPredicate<Input> {
    private let isSatisfied: (Input) throws -> Bool

    /// Prepares a predicate.
    ///
    /// - Throws: `unsupportedPredicate` for arithmetic in a place where it cannot be checked.
    init(_ predicate: Predicate<Input>) throws {
        let (count, callsOthers) = ArithmeticNodes.found(in: type(of: predicate.expression))
        let inner = callsOthers ? ArithmeticNodes.countInOthers(in: predicate.expression) : 0
        if count == 0, inner == 0 {
            isSatisfied = { try predicate.evaluate($0) }
            return
        }
        guard let inner else { throw EvaluationNesting.refusal }
        let program = CheckedExpression.opening(predicate.expression, nil)
        guard program.arithmeticCount == count + inner else {
            throw SwiftDataError.unsupportedPredicate.explained(
                "The predicate has integer arithmetic in a place where an overflow cannot be noticed: inside of an operation that this release does not know. Write the arithmetic in the predicate itself, or compare a stored property."
            )
        }
        let variable = predicate.variable
        isSatisfied = { try program.value(PredicateBindings((variable, $0))) }
    }

    /// Whether an object satisfies the predicate.
    ///
    /// - Throws: `ArithmeticFailure` if an operation has no result; the errors of Foundation.
    func evaluate(_ input: Input) throws -> Bool { try isSatisfied(input) }
}

/// An operation of a predicate that has no result in its type.
struct ArithmeticFailure: Error {
    /// The operation with its values, and why it has no result.
    let text: String
    /// The properties that the operation reads.
    // Safe because key paths of properties capture nothing.
    nonisolated(unsafe) let keyPaths: [AnyKeyPath]
}

/// The nodes whose evaluation may end the process, found in the name of an expression's type, which contains all of its
/// nodes.
enum ArithmeticNodes {
    private static let names: [StaticString] = [
        "PredicateExpressions.Arithmetic<", "PredicateExpressions.IntDivision<", "PredicateExpressions.IntRemainder<",
        "PredicateExpressions.UnaryMinus<", "PredicateExpressions.Range<", "PredicateExpressions.ClosedRange<",
        "PredicateExpressions.CollectionIndexSubscript<",
    ]
    private static let callers: [StaticString] = [
        "PredicateExpressions.PredicateEvaluate<", "PredicateExpressions.ExpressionEvaluate<",
        "PredicateExpressions.EvaluatedPredicates<", "PredicateExpressions.EvaluatedExpression<",
    ]

    private static let facts = ExpressionFacts<(count: Int, callsOthers: Bool)>()

    /// How many such nodes an expression has, and whether it may evaluate other predicates or expressions.
    static func found(in type: any Any.Type) -> (count: Int, callsOthers: Bool) {
        facts.fact(of: type) {
            let text = _typeName(type, qualified: true)
            return (
                names.reduce(0) { $0 + occurrences(of: $1, in: text) },
                callers.contains { occurrences(of: $0, in: text) > 0 }
            )
        }
    }

    /// How many such nodes the predicates and expressions have that are evaluated as parts of this one; nil if they are
    /// too deep to be found.
    static func countInOthers(in expression: Any, depth: Int = 0) -> Int? {
        guard depth < 256 else { return nil }
        if let other = expression as? any PredicateOfOthers {
            let inner = other.innerExpression
            let (count, callsOthers) = found(in: type(of: inner))
            if !callsOthers { return count }
            return countInOthers(in: inner, depth: depth + 1).map { $0 + count }
        }
        if let others = expression as? [any PredicateOfOthers] { return sum(others, depth) }
        let mirror = Mirror(reflecting: expression)
        guard expression is any PredicateExpression || mirror.displayStyle == .tuple else { return 0 }
        return sum(mirror.children.map(\.value), depth)
    }

    private static func sum(_ parts: [Any], _ depth: Int) -> Int? {
        var sum = 0
        for part in parts {
            guard let count = countInOthers(in: part, depth: depth + 1) else { return nil }
            sum += count
        }
        return sum
    }

    /// How often a name occurs in a text.
    private static func occurrences(of name: StaticString, in text: String) -> Int {
        var text = text
        return text.withUTF8 { bytes in
            let (first, length) = (name.utf8Start[0], name.utf8CodeUnitCount)
            var (count, place) = (0, 0)
            while place + length <= bytes.count {
                if bytes[place] == first,
                    (1..<length).allSatisfy({ bytes[place + $0] == name.utf8Start[$0] })
                {
                    count += 1
                }
                place += 1
            }
            return count
        }
    }
}

/// A predicate or an expression, as an existential.
private protocol PredicateOfOthers {
    var innerExpression: Any { get }
}

extension Predicate: PredicateOfOthers {
    fileprivate var innerExpression: Any { expression }
}

extension Expression: PredicateOfOthers {
    fileprivate var innerExpression: Any { expression }
}
