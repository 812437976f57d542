internal import Foundation

/// How deep predicates are evaluated inside of each other.
///
/// Each is a part of the next without a trace in its type, so that a loop can make any depth; reading it takes stack.
enum EvaluationNesting {
    /// The greatest depth that is evaluated.
    static let max = 32

    private static let facts = ExpressionFacts<Bool>()

    /// The depth of an expression; 0 if it evaluates no other one.
    static func depth(of expression: Any) -> Int {
        if let node = expression as? any EvaluatingNode { return node.nesting }
        guard expression is any PredicateExpression,
            facts.fact(
                of: type(of: expression),
                learn: {
                    _typeName(type(of: expression), qualified: true).contains("PredicateExpressions.Evaluated")
                })
        else { return 0 }
        return Mirror(reflecting: expression).children.map { depth(of: $0.value) }.max() ?? 0
    }

    /// - Throws: `SwiftDataError.unsupportedPredicate` for a depth that is not evaluated.
    static func check(_ depth: Int) throws {
        guard depth > max else { return }
        throw SwiftDataError.unsupportedPredicate.explained(
            "The predicate evaluates others that evaluate others, more than \(max) deep. Join them with Predicate.all or Predicate.any, which take a list."
        )
    }
}

/// A node that evaluates predicates or an expression.
protocol EvaluatingNode {
    var nesting: Int { get }
}

extension PredicateExpressions.EvaluatedPredicates: EvaluatingNode {}
extension PredicateExpressions.EvaluatedExpression: EvaluatingNode {}
