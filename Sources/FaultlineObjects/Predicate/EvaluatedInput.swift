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

    init<I: PredicateExpression>(_ input: I, _ variable: PredicateExpressions.Variable<I.Output>) {
        let value = CheckedExpression.make(input)
        self.variable = variable.key
        outer = (input as? PredicateExpressions.Variable<I.Output>)?.key
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
    fileprivate func checked<Output>(_ expression: any PredicateExpression<Output>) -> CheckedExpression<Output> {
        func open<E: PredicateExpression>(_ node: E) -> CheckedExpression<Output> where E.Output == Output {
            CheckedExpression.make(node)
        }
        let body = open(expression)
        return CheckedExpression(reduce(body.arithmeticCount) { $0 + $1.arithmeticCount }) { outer in
            var inner = outer
            for input in self { try input.bind(outer, &inner) }
            return try body.value(inner)
        }
    }
}

// MARK: Predicates

extension PredicateExpressions.EvaluatedPredicates: CheckableNode, LowerableCondition {
    private func inputs(of predicate: Predicate<repeat (each Input).Output>) -> [EvaluatedInput] {
        var inputs: [EvaluatedInput] = []
        repeat inputs.append(EvaluatedInput(each input, each predicate.variable))
        return inputs
    }

    func checked() -> CheckedExpression<Bool> {
        let parts = predicates.map { inputs(of: $0).checked($0.expression) }
        return CheckedExpression(parts.reduce(0) { $0 + $1.arithmeticCount }) { [isConjunction] bindings in
            for part in parts where try part.value(bindings) != isConjunction { return !isConjunction }
            return isConjunction
        }
    }

    func lowered(in scope: LoweringScope) -> LoweredFilter {
        let parts = predicates.map { predicate in
            inputs(of: predicate).scope(in: scope).map { PredicateLowering.condition(predicate.expression, in: $0) }
                ?? .unknown
        }
        return isConjunction ? .all(parts) : .any(parts)
    }
}

// MARK: An expression

extension PredicateExpressions.EvaluatedExpression: CheckableNode, LowerableCondition, LowerableOperand {
    private var inputs: [EvaluatedInput] {
        var inputs: [EvaluatedInput] = []
        repeat inputs.append(EvaluatedInput(each input, each expression.variable))
        return inputs
    }

    func checked() -> CheckedExpression<Output> { inputs.checked(expression.expression) }

    func lowered(in scope: LoweringScope) -> LoweredFilter {
        inputs.scope(in: scope).map { PredicateLowering.condition(expression.expression, in: $0) } ?? .unknown
    }

    func operand(in scope: LoweringScope) -> LoweredOperand? {
        inputs.scope(in: scope).flatMap { PredicateLowering.operand(expression.expression, in: $0) }
    }
}

extension LoweredFilter {
    /// The objects that satisfy each of them.
    fileprivate static func all(_ parts: [LoweredFilter]) -> LoweredFilter {
        if parts.count == 1 { return parts[0] }
        var all = LoweredFilter(filter: .and(parts.map(\.filter)), isExact: parts.allSatisfy(\.isExact))
        for candidates in parts.compactMap(\.candidates) {
            all.candidates = all.candidates?.intersection(candidates) ?? candidates
        }
        return all
    }

    /// The objects that satisfy at least one of them.
    fileprivate static func any(_ parts: [LoweredFilter]) -> LoweredFilter {
        guard parts.allSatisfy({ $0.candidates == nil }) else {
            return parts.dropFirst().reduce(parts[0]) { $0.or($1) }
        }
        return LoweredFilter(filter: .or(parts.map(\.filter)), isExact: parts.allSatisfy(\.isExact))
    }
}
