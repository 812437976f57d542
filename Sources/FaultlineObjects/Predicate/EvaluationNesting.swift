internal import Foundation

/// How deep predicates are evaluated inside of each other.
///
/// Each is a part of the next without a trace in its type, so that a loop can make any depth; reading it takes stack.
enum EvaluationNesting {
    /// The greatest depth that is evaluated.
    static let max = 32

    /// The depth of an expression; 0 if it evaluates no other one.
    static func depth(of expression: Any) -> Int {
        if let node = expression as? any EvaluatingNode { return node.nesting }
        guard expression is any PredicateExpression, ArithmeticNodes.found(in: type(of: expression)).callsOthers else {
            return 0
        }
        return Mirror(reflecting: expression).children.map { depth(of: $0.value) }.max() ?? 0
    }

    /// - Throws: `SwiftDataError.unsupportedPredicate` for a depth that is not evaluated.
    static func check(_ depth: Int) throws { if depth > max { throw refusal } }

    /// The error of predicates that are too deep.
    static var refusal: SwiftDataError {
        SwiftDataError.unsupportedPredicate.explained(
            "The predicate evaluates others that evaluate others, too deep: at most \(max) inside of each other. Join them with Predicate.all or Predicate.any, which take a list."
        )
    }
}

/// A node that evaluates predicates or an expression.
protocol EvaluatingNode {
    var nesting: Int { get }
}

extension PredicateExpressions.EvaluatedPredicates: EvaluatingNode {}
extension PredicateExpressions.EvaluatedExpression: EvaluatingNode {}
