internal import SwiftSyntax

extension ExprSyntax {
    /// Whether the expression becomes nodes even if it mentions no value of an object.
    ///
    /// Operators do, since their result may not exist, and since the bounds of a range stay visible. So do members of
    /// their results.
    var isOperation: Bool {
        switch self.as(ExprSyntaxEnum.self) {
        case .infixOperatorExpr(let infix):
            guard let sign = infix.operator.as(BinaryOperatorExprSyntax.self)?.operator.text else { return false }
            return QueryTranslation.operations[sign] != nil && !(sign == "+" && infix.joinsLiterals)
        case .prefixOperatorExpr(let prefix):
            let isNumber =
                prefix.expression.is(IntegerLiteralExprSyntax.self) || prefix.expression.is(FloatLiteralExprSyntax.self)
            return prefix.operator.text == "!" || prefix.operator.text == "-" && !isNumber
        case .ternaryExpr, .forceUnwrapExpr, .subscriptCallExpr, .isExpr, .asExpr, .ifExpr: return true
        case .memberAccessExpr(let member): return member.base?.inner.isOperation ?? false
        case .optionalChainingExpr(let part): return part.expression.inner.isOperation
        case .functionCallExpr(let call):
            guard let member = call.calledExpression.as(MemberAccessExprSyntax.self),
                QueryMethod(rawValue: member.declName.baseName.text) != nil
            else { return false }
            return member.base?.inner.isOperation ?? false
        default: return false
        }
    }
}

extension InfixOperatorExprSyntax {
    /// Whether a text or an array is written out in a chain of `+`: it joins them, and does not add numbers.
    fileprivate var joinsLiterals: Bool {
        [leftOperand, rightOperand].contains { operand in
            let operand = operand.inner
            return operand.is(StringLiteralExprSyntax.self) || operand.is(ArrayExprSyntax.self)
                || operand.as(InfixOperatorExprSyntax.self)?.joinsLiterals == true
        }
    }
}
