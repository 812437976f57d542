internal import Foundation

// Operators between constants: a fetch computes them once, and compares stored values and keys of an index with the
// result.

/// The value of a node without variables; nil for other nodes, and for arithmetic without a result.
private func computed<E: PredicateExpression>(_ node: E) -> LoweredOperand? {
    guard let value = try? CheckedExpression.make(node).value(PredicateBindings()) else { return nil }
    return PredicateLowering.constant(value as Any).map { .constant($0) }
}

extension PredicateExpressions.Arithmetic: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { computed(self) }
}

extension PredicateExpressions.IntDivision: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { computed(self) }
}

extension PredicateExpressions.IntRemainder: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { computed(self) }
}

extension PredicateExpressions.FloatDivision: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { computed(self) }
}

extension PredicateExpressions.UnaryMinus: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { computed(self) }
}

extension PredicateExpressions.NilCoalesce: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { computed(self) }
}

extension PredicateExpressions.ForcedUnwrap: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { computed(self) }
}

extension PredicateExpressions.Conditional: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { computed(self) }
}
