public import Foundation

extension Predicate {
    /// The values that satisfy each of several predicates.
    ///
    ///     let chosen = Predicate.all(filters.map(\.predicate))
    ///     let photos = try context.fetch(FetchDescriptor(predicate: chosen))
    ///
    /// A fetch uses indexes and stored values as for the same conditions joined by `&&`.
    ///
    /// - Parameter predicates: Any number of predicates.
    /// - Returns: A predicate, which each value satisfies if there are none.
    /// - Complexity: O(n) for n predicates; a joined one counts as those that it was made of.
    public static func all(_ predicates: [Self]) -> Self {
        predicates.isEmpty ? .true : joined(predicates, isConjunction: true)
    }

    /// The values that satisfy at least one of several predicates.
    ///
    ///     let chosen = Predicate.any(words.map { word in #Predicate<Photo> { $0.title.contains(word) } })
    ///
    /// A fetch uses stored values as for the same conditions joined by `||`.
    ///
    /// - Parameter predicates: Any number of predicates.
    /// - Returns: A predicate, which no value satisfies if there are none.
    /// - Complexity: O(n) for n predicates; a joined one counts as those that it was made of.
    public static func any(_ predicates: [Self]) -> Self {
        predicates.isEmpty ? .false : joined(predicates, isConjunction: false)
    }

    private static func joined(_ predicates: [Self], isConjunction: Bool) -> Self {
        if predicates.count == 1 { return predicates[0] }
        var (parts, nesting): ([Self], Int) = ([], 0)
        for predicate in predicates {
            if let joined = predicate.joined(isConjunction: isConjunction) {
                parts += joined.predicates
                nesting = Swift.max(nesting, joined.nesting - 1)
            } else {
                parts.append(predicate)
                nesting = Swift.max(nesting, EvaluationNesting.depth(of: predicate.expression))
            }
        }
        return Self({ (variable: repeat PredicateExpressions.Variable<each Input>) in
            PredicateExpressions.EvaluatedPredicates<repeat PredicateExpressions.Variable<each Input>>(
                parts, isConjunction: isConjunction, input: repeat each variable, nesting: nesting + 1)
        })
    }

    /// The node of a predicate that joins others in the same way; nil for any other predicate.
    ///
    /// A loop that joins one more predicate each time makes a list, not a depth.
    private func joined(
        isConjunction: Bool
    ) -> PredicateExpressions.EvaluatedPredicates<repeat PredicateExpressions.Variable<each Input>>? {
        typealias Node = PredicateExpressions.EvaluatedPredicates<repeat PredicateExpressions.Variable<each Input>>
        guard let node = expression as? Node, node.isConjunction == isConjunction,
            node.nesting <= EvaluationNesting.max
        else { return nil }
        var (own, given): ([PredicateExpressions.VariableID], [PredicateExpressions.VariableID]) = ([], [])
        repeat own.append((each variable).key)
        repeat given.append((each node.input).key)
        return own == given ? node : nil
    }
}
