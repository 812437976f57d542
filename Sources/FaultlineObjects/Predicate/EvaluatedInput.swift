internal import FaultlineStore
internal import Foundation

/// The value of a variable of a predicate that another one evaluates.
private struct EvaluatedInput {
    /// The variable of the inner predicate.
    let variable: PredicateExpressions.VariableID
    /// The variable of the outer predicate that is its value; nil for another value.
    let outer: PredicateExpressions.VariableID?
    let arithmeticCount: Int
    /// Gives the inner variable its value.
    let bind: (PredicateBindings, inout PredicateBindings) throws -> Void

    init<I: PredicateExpression>(
        _ input: I, _ variable: PredicateExpressions.Variable<I.Output>, _ rows: RowScope? = nil
    ) {
        self.variable = variable.key
        outer = (input as? PredicateExpressions.Variable<I.Output>)?.key
        if let rows, let cursor = outer.flatMap(rows.cursor) {
            rows.bind(variable.key, to: cursor)
            arithmeticCount = 0
            bind = { _, _ in }
            return
        }
        let value = CheckedExpression.make(input, rows)
        arithmeticCount = value.arithmeticCount
        bind = { outer, inner in inner[variable] = try value.value(outer) }
    }
}

extension [EvaluatedInput] {
    /// The scope in which an inner expression is lowered; nil if its input is not the object that is fetched.
    fileprivate func scope(in outer: LoweringScope) -> LoweringScope? {
        guard count == 1, self[0].outer == outer.variable else { return nil }
        var inner = outer
        inner.variable = self[0].variable
        return inner
    }

    /// Prepares an inner expression for its input.
    fileprivate func checked<Output>(
        _ expression: any PredicateExpression<Output>, _ rows: RowScope?
    ) -> CheckedExpression<Output> {
        func open<E: PredicateExpression>(_ node: E) -> CheckedExpression<Output> where E.Output == Output {
            CheckedExpression.make(node, rows)
        }
        let body = open(expression)
        if let rows { forEach { rows.unbind($0.variable) } }
        return CheckedExpression(reduce(body.arithmeticCount) { $0 + $1.arithmeticCount }) { outer in
            var inner = outer
            for input in self { try input.bind(outer, &inner) }
            return try body.value(inner)
        }
    }
}

/// An evaluation that throws, because it is too deep.
private func tooDeep<Output>(_ rows: RowScope?) -> CheckedExpression<Output> {
    rows?.giveUp() ?? CheckedExpression(0) { _ in throw EvaluationNesting.refusal }
}

// MARK: Predicates

extension PredicateExpressions.EvaluatedPredicates: CheckableNode, LowerableCondition {
    private func inputs(
        of predicate: Predicate<repeat (each Input).Output>, _ rows: RowScope? = nil
    ) -> [EvaluatedInput] {
        var inputs: [EvaluatedInput] = []
        repeat inputs.append(EvaluatedInput(each input, each predicate.variable, rows))
        return inputs
    }

    func checked(_ rows: RowScope?) -> CheckedExpression<Bool> {
        if nesting > EvaluationNesting.max { return tooDeep(rows) }
        let parts = predicates.map { inputs(of: $0, rows).checked($0.expression, rows) }
        return CheckedExpression(parts.reduce(0) { $0 + $1.arithmeticCount }) { [isConjunction] bindings in
            for part in parts where try part.value(bindings) != isConjunction { return !isConjunction }
            return isConjunction
        }
    }

    func lowered(in scope: LoweringScope) -> LoweredFilter {
        if nesting > EvaluationNesting.max { return .unknown }
        let parts = predicates.map { predicate in
            inputs(of: predicate).scope(in: scope).map { PredicateLowering.condition(predicate.expression, in: $0) }
                ?? .unknown
        }
        return isConjunction ? .all(parts) : .any(parts)
    }
}

// MARK: An expression

extension PredicateExpressions.EvaluatedExpression: CheckableNode, LowerableCondition, LowerableOperand {
    private func inputs(_ rows: RowScope? = nil) -> [EvaluatedInput] {
        var inputs: [EvaluatedInput] = []
        repeat inputs.append(EvaluatedInput(each input, each expression.variable, rows))
        return inputs
    }

    func checked(_ rows: RowScope?) -> CheckedExpression<Output> {
        if nesting > EvaluationNesting.max { return tooDeep(rows) }
        return inputs(rows).checked(expression.expression, rows)
    }

    func lowered(in scope: LoweringScope) -> LoweredFilter {
        if nesting > EvaluationNesting.max { return .unknown }
        return inputs().scope(in: scope).map { PredicateLowering.condition(expression.expression, in: $0) } ?? .unknown
    }

    func operand(in scope: LoweringScope) -> LoweredOperand? {
        if nesting > EvaluationNesting.max { return nil }
        return inputs().scope(in: scope).flatMap { PredicateLowering.operand(expression.expression, in: $0) }
    }
}
