internal import SwiftSyntax

extension ExprSyntax {
    /// Whether the expression becomes nodes even if it mentions no value of an object.
    ///
    /// Operators do whose result may not exist, and ranges, whose bounds stay visible. So do members of their results.
    var isOperation: Bool {
        switch self.as(ExprSyntaxEnum.self) {
        case .infixOperatorExpr(let infix):
            guard let sign = infix.operator.as(BinaryOperatorExprSyntax.self)?.operator.text else { return false }
            guard let operation = QueryTranslation.operations[sign] else { return false }
            return operation.isComparison ? mayFail : !(sign == "+" && infix.joinsLiterals)
        case .prefixOperatorExpr(let prefix):
            let isNumber =
                prefix.expression.is(IntegerLiteralExprSyntax.self) || prefix.expression.is(FloatLiteralExprSyntax.self)
            return prefix.operator.text == "!" ? mayFail : prefix.operator.text == "-" && !isNumber
        case .isExpr: return mayFail
        case .ternaryExpr, .forceUnwrapExpr, .subscriptCallExpr, .asExpr, .ifExpr: return true
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

extension ExprSyntax {
    /// Whether a part of it may have no result, so that the process would end.
    fileprivate var mayFail: Bool { FailingPartSearch.find(in: self).isFailing }

    /// Whether a part of it unwraps an optional or casts by force.
    var unwraps: Bool { FailingPartSearch.find(in: self).isUnwrapping }
}

/// Looks for operations that end the process where they have no result.
private final class FailingPartSearch: SyntaxVisitor {
    private(set) var isUnwrapping = false
    private(set) var isFailing = false

    static func find(in expression: ExprSyntax) -> FailingPartSearch {
        let search = FailingPartSearch(viewMode: .sourceAccurate)
        search.walk(expression)
        return search
    }

    private func note(isUnwrapping unwraps: Bool) -> SyntaxVisitorContinueKind {
        isFailing = true
        isUnwrapping = isUnwrapping || unwraps
        return .visitChildren
    }

    override func visit(_ node: ForceUnwrapExprSyntax) -> SyntaxVisitorContinueKind { note(isUnwrapping: true) }
    override func visit(_ node: SubscriptCallExprSyntax) -> SyntaxVisitorContinueKind { note(isUnwrapping: false) }

    override func visit(_ node: AsExprSyntax) -> SyntaxVisitorContinueKind {
        node.questionOrExclamationMark?.tokenKind == .exclamationMark ? note(isUnwrapping: true) : .visitChildren
    }

    override func visit(_ node: UnresolvedAsExprSyntax) -> SyntaxVisitorContinueKind {
        node.questionOrExclamationMark?.tokenKind == .exclamationMark ? note(isUnwrapping: true) : .visitChildren
    }

    override func visit(_ node: BinaryOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        let operation = QueryTranslation.operations[node.operator.text]
        return operation?.isComparison == false ? note(isUnwrapping: false) : .visitChildren
    }

    override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        node.operator.text == "-" ? note(isUnwrapping: false) : .visitChildren
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
