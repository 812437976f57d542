internal import Foundation

// Operators between constants: a fetch computes them once, and compares stored values and keys of an index with the
// result.

private enum ComputedConstant {
    private static let facts = ExpressionFacts<Bool>()

    /// The value of a node without variables; nil for other nodes, and for arithmetic without a result.
    static func operand<E: PredicateExpression>(of node: E, in scope: LoweringScope) -> LoweredOperand? {
        let hasVariable = facts.fact(of: E.self) {
            _typeName(E.self, qualified: true).contains("PredicateExpressions.Variable<")
        }
        let (count, callsOthers) = ArithmeticNodes.found(in: E.self)
        guard !hasVariable, !callsOthers else { return nil }
        let program = CheckedExpression.make(node, nil)
        // A node that this release does not know may end the process.
        guard program.arithmeticCount == count, let value = try? program.value(PredicateBindings()) else { return nil }
        return PredicateExpressions.Value(value).operand(in: scope)
    }
}

extension PredicateExpressions.Arithmetic: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { ComputedConstant.operand(of: self, in: scope) }
}

extension PredicateExpressions.IntDivision: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { ComputedConstant.operand(of: self, in: scope) }
}

extension PredicateExpressions.IntRemainder: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { ComputedConstant.operand(of: self, in: scope) }
}

extension PredicateExpressions.FloatDivision: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { ComputedConstant.operand(of: self, in: scope) }
}

extension PredicateExpressions.UnaryMinus: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { ComputedConstant.operand(of: self, in: scope) }
}

extension PredicateExpressions.NilCoalesce: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { ComputedConstant.operand(of: self, in: scope) }
}

extension PredicateExpressions.ForcedUnwrap: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { ComputedConstant.operand(of: self, in: scope) }
}

extension PredicateExpressions.Conditional: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { ComputedConstant.operand(of: self, in: scope) }
}
