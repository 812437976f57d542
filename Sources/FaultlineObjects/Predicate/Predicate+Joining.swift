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
    /// - Complexity: O(1).
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
    /// - Complexity: O(1).
    public static func any(_ predicates: [Self]) -> Self {
        predicates.isEmpty ? .false : joined(predicates, isConjunction: false)
    }

    private static func joined(_ predicates: [Self], isConjunction: Bool) -> Self {
        if predicates.count == 1 { return predicates[0] }
        return Self({ (variable: repeat PredicateExpressions.Variable<each Input>) in
            PredicateExpressions.EvaluatedPredicates<repeat PredicateExpressions.Variable<each Input>>(
                predicates, isConjunction: isConjunction, input: repeat each variable)
        })
    }
}
