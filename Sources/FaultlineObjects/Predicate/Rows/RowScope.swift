internal import FaultlineLog
internal import FaultlineStore
internal import Foundation

/// The rows that the nodes of an expression read in place of objects.
///
/// A node that needs an object gives up: then the whole expression is evaluated on objects.
final class RowScope {
    let context: ContextCore
    /// The state whose rows are read.
    let snapshot: Snapshot
    /// Whether unsaved changes of the context count.
    let countsPending: Bool
    /// False once a node has given up.
    private(set) var isAnswered = true
    /// The tables whose objects decide the answer, beside the row's own object.
    private(set) var otherTables: Set<TableID> = []

    private typealias VariableID = PredicateExpressions.VariableID
    private var cursors: [(variable: VariableID, cursor: RowCursor)] = []
    private var members: [VariableID: SelectedMembers] = [:]
    /// The cursors that nodes have used, and whether one has used another variable.
    private var used: Set<ObjectIdentifier> = []
    private var usesVariables = false

    init(_ context: ContextCore, countsPending: Bool) {
        self.context = context
        snapshot = context.snapshot
        self.countsPending = countsPending
    }

    // MARK: Variables

    func bind(_ variable: PredicateExpressions.VariableID, to cursor: RowCursor) {
        if let last = cursors.last, last.variable == variable { cursors.removeLast() }
        cursors.append((variable, cursor))
    }

    /// Forgets the last row of a variable, whose nodes are prepared.
    func unbind(_ variable: PredicateExpressions.VariableID) {
        if let place = cursors.lastIndex(where: { $0.variable == variable }) { cursors.remove(at: place) }
    }

    /// The row of a variable; nil for a variable of a value.
    func cursor(of variable: PredicateExpressions.VariableID) -> RowCursor? {
        guard let found = cursors.last(where: { $0.variable == variable })?.cursor else { return nil }
        used.insert(ObjectIdentifier(found))
        return found
    }

    func bind(_ variable: PredicateExpressions.VariableID, to members: SelectedMembers) {
        self.members[variable] = members
    }

    /// The members that a variable stands for, with a cursor of their own; nil for another variable.
    func members(of variable: PredicateExpressions.VariableID) -> SelectedMembers? {
        guard let found = members[variable] else { return nil }
        usesVariables = true
        return found.withOwnCursor
    }

    /// Notes that a node reads a variable of a value.
    func noteVariable() { usesVariables = true }

    /// Prepares nodes, and tells whether they read no row but that of a cursor and rows that it leads to.
    func preparing<R>(for cursor: RowCursor, _ body: () -> R) -> (R, readsNoOthers: Bool) {
        let before = (used: used, usesVariables: usesVariables)
        let others = Set(cursors.map { ObjectIdentifier($0.cursor) }).subtracting([ObjectIdentifier(cursor)])
        used = []
        usesVariables = false
        let result = body()
        let readsNoOthers = used.isDisjoint(with: others) && !usesVariables
        used.formUnion(before.used)
        usesVariables = usesVariables || before.usesVariables
        return (result, readsNoOthers)
    }

    // MARK: Relationships

    /// The rows of the objects that a relationship leads to; nil if the context has unsaved ones, which have no rows.
    func rows(ofDestination ordinal: Int) -> RelatedRows? {
        let home = context.homes[ordinal]
        guard let entity = home.entity, !countsPending || !context.pending.hasPending(home) else { return nil }
        otherTables.insert(entity.table)
        return RelatedRows(RowCursor(home, entity), self)
    }

    /// Whether all members are as the store has them: a change of links marks no object as changed.
    var hasStoredMembers: Bool { !countsPending || !context.hasChanges }

    // MARK: Nodes

    /// Gives up: the expression needs objects.
    func giveUp<Output>() -> CheckedExpression<Output> {
        isAnswered = false
        return CheckedExpression(0) { _ in throw RowCannotTell() }
    }

    /// Prepares a condition that a filter of the rows answers; nil for any other node.
    func condition(_ node: Any) -> CheckedExpression<Bool>? {
        guard node is any LowerableCondition, !(node is any JoinedConditions) else { return nil }
        for (variable, cursor) in cursors.reversed() {
            let scope = LoweringScope(variable, cursor.home, cursor.entity, context, countsPending: countsPending)
            let lowered = PredicateLowering.condition(node, in: scope)
            guard lowered.isExact, lowered.candidates == nil else { continue }
            switch lowered.filter {
            case .always: return CheckedExpression(0) { _ in true }
            case .never: return CheckedExpression(0) { _ in false }
            default: break
            }
            used.insert(ObjectIdentifier(cursor))
            otherTables.formUnion(lowered.filter.targets.map(\.table))
            let question = RowQuestion(lowered.filter, cursor.entity, context)
            return CheckedExpression(0) { _ in try question.isTrue(cursor.row, cursor.layout) }
        }
        return nil
    }
}

/// A condition of other conditions: each of them is prepared by itself.
protocol JoinedConditions {}

extension PredicateExpressions.Conjunction: JoinedConditions {}
extension PredicateExpressions.Disjunction: JoinedConditions {}
extension PredicateExpressions.Negation: JoinedConditions {}
