internal import FaultlineLog
internal import FaultlineStore
internal import Foundation

/// The conditions of a predicate that its filter does not decide, evaluated on rows.
///
/// Prepared for the first row, because mostly there is none.
final class RowCondition {
    private let prepare: () -> Prepared?
    /// Nil before the first row, and after the last.
    private var made: Prepared??

    init<T: PersistentModel>(
        _ predicate: Predicate<T>, _ home: EntityHome, _ entity: EntityStorage, _ context: ContextCore,
        countsPending: Bool
    ) {
        prepare = { Prepared(predicate, home, entity, context, countsPending: countsPending) }
    }

    /// Whether rows answer it.
    var isAnswered: Bool { prepared != nil }

    /// The tables whose objects decide the answer, beside the row's own object; nil if objects must be asked.
    var otherTables: Set<TableID>? { prepared?.rows.otherTables }

    private var prepared: Prepared? {
        if let made { return made }
        let prepared = prepare()
        made = .some(prepared)
        return prepared
    }

    /// Releases the memory and the state of the store that it uses for a search.
    func finish() { made = nil }

    /// Whether a row that satisfies the filter satisfies the conditions too; nil if its object must be asked, which
    /// also reports values that cannot be read.
    func isTrue(of found: FoundRow) -> Bool? {
        prepared.flatMap { prepared in TrackingWord.withoutTracking { prepared.isTrue(of: found) } }
    }

    private struct Prepared {
        let rows: RowScope
        private let cursor: RowCursor
        private let conditions: [CheckedExpression<Bool>]
        private let bindings = PredicateBindings()

        init?<T: PersistentModel>(
            _ predicate: Predicate<T>, _ home: EntityHome, _ entity: EntityStorage, _ context: ContextCore,
            countsPending: Bool
        ) {
            rows = RowScope(context, countsPending: countsPending)
            cursor = RowCursor(home, entity)
            rows.bind(predicate.variable.key, to: cursor)
            let scope = LoweringScope(predicate.variable.key, home, entity, context, countsPending: countsPending)
            var conditions: [CheckedExpression<Bool>] = []
            for part in Self.conjuncts(predicate.expression) {
                let lowered = PredicateLowering.condition(part, in: scope)
                if lowered.isExact {
                    // Searches by other means pass rows that are no candidates.
                    if let candidates = lowered.candidates, lowered.filter == .always {
                        conditions.append(
                            CheckedExpression(0) { [cursor] _ in candidates.contains(cursor.number) })
                        continue
                    }
                    if lowered.candidates == nil { continue }
                }
                conditions.append(.opening(part, rows))
                guard rows.isAnswered else { return nil }
            }
            self.conditions = conditions
        }

        func isTrue(of found: FoundRow) -> Bool? {
            cursor.move(to: found.number, found.view, found.layout)
            defer { cursor.leave() }
            return try? conditions.allSatisfy { try $0.value(bindings) }
        }

        private static func conjuncts(_ expression: any PredicateExpression<Bool>) -> [any PredicateExpression<Bool>] {
            guard let both = expression as? any TwoConditions else { return [expression] }
            return conjuncts(both.first) + conjuncts(both.second)
        }
    }
}

/// A conjunction, as an existential.
private protocol TwoConditions {
    var first: any PredicateExpression<Bool> { get }
    var second: any PredicateExpression<Bool> { get }
}

extension PredicateExpressions.Conjunction: TwoConditions {
    fileprivate var first: any PredicateExpression<Bool> { lhs }
    fileprivate var second: any PredicateExpression<Bool> { rhs }
}
