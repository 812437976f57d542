internal import Foundation

// Operators between constants: a fetch computes them once, and compares stored values and keys of an index with the
// result.

private enum ComputedConstant {
    /// The value of a node without variables; nil for other nodes, and for arithmetic without a result.
    static func operand<E: PredicateExpression>(of node: E) -> LoweredOperand? {
        guard let value = try? CheckedExpression.make(node).value(PredicateBindings()) else { return nil }
        return PredicateLowering.constant(value as Any).map { .constant($0) }
    }
}

extension PredicateExpressions.Arithmetic: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { ComputedConstant.operand(of: self) }
}

extension PredicateExpressions.IntDivision: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { ComputedConstant.operand(of: self) }
}

extension PredicateExpressions.IntRemainder: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { ComputedConstant.operand(of: self) }
}

extension PredicateExpressions.FloatDivision: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { ComputedConstant.operand(of: self) }
}

extension PredicateExpressions.UnaryMinus: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { ComputedConstant.operand(of: self) }
}

extension PredicateExpressions.NilCoalesce: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { ComputedConstant.operand(of: self) }
}

extension PredicateExpressions.ForcedUnwrap: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { ComputedConstant.operand(of: self) }
}

extension PredicateExpressions.Conditional: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { ComputedConstant.operand(of: self) }
}
