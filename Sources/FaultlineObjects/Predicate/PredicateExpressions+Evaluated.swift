public import Foundation

// The nodes of `other.evaluate($0)`. Foundation's own nodes hold a predicate as a coded constant, which it has on Apple's
// platforms alone.

extension PredicateExpressions {
    /// Whether values satisfy all of several predicates, or any of them.
    public struct EvaluatedPredicates<each Input: PredicateExpression>: PredicateExpression {
        /// True or false.
        public typealias Output = Bool

        /// The predicates, in the order of their evaluation; none if they are too deep inside of each other.
        public let predicates: [Predicate<repeat (each Input).Output>]
        /// Whether all of them must be satisfied, or any.
        public let isConjunction: Bool
        /// The values that they are evaluated for.
        public let input: (repeat each Input)
        /// How many predicates and expressions are evaluated inside of each other here.
        let nesting: Int

        /// Makes the node of an evaluation of `predicates` for `input`.
        public init(
            _ predicates: [Predicate<repeat (each Input).Output>], isConjunction: Bool, input: repeat each Input
        ) {
            let nesting = 1 + (predicates.lazy.map { EvaluationNesting.depth(of: $0.expression) }.max() ?? 0)
            self.init(predicates, isConjunction: isConjunction, input: repeat each input, nesting: nesting)
        }

        /// Makes the node of predicates whose depth is known.
        init(
            _ predicates: [Predicate<repeat (each Input).Output>], isConjunction: Bool, input: repeat each Input,
            nesting: Int
        ) {
            self.nesting = nesting
            // Released, so that no depth ends the process.
            self.predicates = nesting > EvaluationNesting.max ? [] : predicates
            self.isConjunction = isConjunction
            self.input = (repeat each input)
        }

        /// Evaluates the predicates until the result is known.
        ///
        /// - Throws: The errors of the predicates and of their input; `SwiftDataError.unsupportedPredicate` if they are
        ///   more than 32 deep inside of each other.
        /// - Complexity: That of all predicates together.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            try EvaluationNesting.check(nesting)
            let values = (repeat try (each input).evaluate(bindings))
            for predicate in predicates where try predicate.evaluate(repeat each values) != isConjunction {
                return !isConjunction
            }
            return isConjunction
        }
    }

    /// The value of another expression.
    public struct EvaluatedExpression<Value, each Input: PredicateExpression>: PredicateExpression {
        /// The type of the value.
        public typealias Output = Value

        /// The expression that is evaluated.
        public let expression: Expression<repeat (each Input).Output, Value>
        /// The values that it is evaluated for.
        public let input: (repeat each Input)
        /// How many predicates and expressions are evaluated inside of each other here.
        let nesting: Int

        /// Makes the node of an evaluation of `expression` for `input`.
        public init(_ expression: Expression<repeat (each Input).Output, Value>, input: repeat each Input) {
            nesting = 1 + EvaluationNesting.depth(of: expression.expression)
            self.expression = expression
            self.input = (repeat each input)
        }

        /// Evaluates the expression.
        ///
        /// - Throws: The errors of the expression and of its input; `SwiftDataError.unsupportedPredicate` as for
        ///   predicates.
        /// - Complexity: That of the expression.
        public func evaluate(_ bindings: PredicateBindings) throws -> Value {
            try EvaluationNesting.check(nesting)
            return try expression.evaluate(repeat try (each input).evaluate(bindings))
        }
    }

    /// Makes the node for `predicate.evaluate(input)` in `#Predicate`.
    public static func build_evaluate<each Input: PredicateExpression>(
        _ predicate: Predicate<repeat (each Input).Output>, _ input: repeat each Input
    ) -> EvaluatedPredicates<repeat each Input> {
        EvaluatedPredicates<repeat each Input>([predicate], isConjunction: true, input: repeat each input)
    }

    /// Makes the node for `expression.evaluate(input)` in `#Predicate`.
    public static func build_evaluate<Value, each Input: PredicateExpression>(
        _ expression: Expression<repeat (each Input).Output, Value>, _ input: repeat each Input
    ) -> EvaluatedExpression<Value, repeat each Input> {
        EvaluatedExpression<Value, repeat each Input>(expression, input: repeat each input)
    }
}

extension PredicateExpressions.EvaluatedPredicates: Sendable where repeat each Input: Sendable {}
extension PredicateExpressions.EvaluatedExpression: Sendable where repeat each Input: Sendable {}

extension PredicateExpressions.EvaluatedPredicates: Codable where repeat each Input: Codable {
    /// Refuses: an archive of a predicate has no predicates inside.
    ///
    /// - Throws: `EncodingError.invalidValue`.
    public func encode(to encoder: any Encoder) throws { throw PredicateExpressions.refusal(self, encoder) }

    /// Refuses: an archive of a predicate has no predicates inside.
    ///
    /// - Throws: `DecodingError.dataCorrupted`.
    public init(from decoder: any Decoder) throws { throw PredicateExpressions.refusal(decoder) }
}

extension PredicateExpressions.EvaluatedExpression: Codable where repeat each Input: Codable {
    /// Refuses: an archive of a predicate has no expressions inside.
    ///
    /// - Throws: `EncodingError.invalidValue`.
    public func encode(to encoder: any Encoder) throws { throw PredicateExpressions.refusal(self, encoder) }

    /// Refuses: an archive of a predicate has no expressions inside.
    ///
    /// - Throws: `DecodingError.dataCorrupted`.
    public init(from decoder: any Decoder) throws { throw PredicateExpressions.refusal(decoder) }
}

extension PredicateExpressions {
    private static var reason: String { "A predicate that evaluates another one cannot be archived." }

    fileprivate static func refusal(_ node: Any, _ encoder: any Encoder) -> EncodingError {
        .invalidValue(node, EncodingError.Context(codingPath: encoder.codingPath, debugDescription: reason))
    }

    fileprivate static func refusal(_ decoder: any Decoder) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: decoder.codingPath, debugDescription: reason))
    }
}

extension PredicateExpressions.EvaluatedPredicates: StandardPredicateExpression
where repeat each Input: StandardPredicateExpression {}
extension PredicateExpressions.EvaluatedExpression: StandardPredicateExpression
where repeat each Input: StandardPredicateExpression {}
