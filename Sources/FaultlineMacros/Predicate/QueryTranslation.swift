internal import SwiftDiagnostics
internal import SwiftOperators
internal import SwiftSyntax
internal import SwiftSyntaxMacros

/// Translates the syntax of a closure to calls that build the nodes of a predicate.
final class QueryTranslation {
    /// The macro without its number sign.
    let macroName: String
    let context: any MacroExpansionContext
    /// The names that stand for values of an object, and the names of their nodes in the expansion.
    var variables: [String: String] = [:]
    /// The nodes of values that an optional chain goes on with, by the syntax of the part with the question mark.
    var unwrapped: [SyntaxIdentifier: String] = [:]
    /// The statements of each closure around the current place, the outermost first.
    private var statements: [[String]] = []
    private(set) var mistakes: [Diagnostic] = []
    /// Whether a condition in front may exclude the current place.
    private var isGuarded = false

    init(_ macroName: String, _ context: some MacroExpansionContext) {
        self.macroName = macroName
        self.context = context
    }

    /// A name that the closure's author cannot have used.
    ///
    /// It begins without the dollar sign of such names: a parameter with one would stand for a property wrapper.
    func uniqueName(_ name: String) -> String { "_" + context.makeUniqueName(name).text.drop { $0 == "$" } }

    /// Reports a mistake, and returns a text for the place of the node.
    @discardableResult
    func refuse(_ text: String, at syntax: some SyntaxProtocol, fixIts: [FixIt] = []) -> String {
        mistakes.append(.error("#\(macroName) \(text)", at: syntax, fixIts: fixIts))
        return "_"
    }
}

// MARK: Nodes

extension QueryTranslation {
    /// The call of a function that builds a node.
    func build(_ name: String, _ arguments: String...) -> String {
        "Foundation.PredicateExpressions.build_\(name)(\(arguments.joined(separator: ", ")))"
    }

    /// The node of an expression.
    func node(_ expression: ExprSyntax) -> String {
        let expression = expression.inner
        if let variable = unwrapped[expression.id] { return variable }
        if expression.isNeverANode { return refuse(other(expression), at: expression) }
        if expression.is(NilLiteralExprSyntax.self) { return build("NilLiteral") }
        if !mentionsVariable(expression), !expression.isOperation { return constant(expression) }
        if let head = chainHead(of: expression) { return chain(expression, from: head) }
        return switch expression.as(ExprSyntaxEnum.self) {
        case .declReferenceExpr(let name): variables[name.baseName.unquoted] ?? constant(expression)
        case .memberAccessExpr(let member): self.member(member)
        case .functionCallExpr(let call): self.call(call)
        case .subscriptCallExpr(let element): self.element(element)
        case .forceUnwrapExpr(let unwrap): build("ForcedUnwrap", node(unwrap.expression))
        case .infixOperatorExpr(let infix): self.infix(infix)
        case .prefixOperatorExpr(let prefix): self.prefix(prefix)
        case .ternaryExpr(let ternary):
            build(
                "Conditional", condition(ternary.condition), guarded { node(ternary.thenExpression) },
                guarded { node(ternary.elseExpression) })
        case .isExpr(let test): cast("TypeCheck", test.expression, to: test.type)
        case .asExpr(let cast):
            self.cast(
                cast.questionOrExclamationMark?.tokenKind == .postfixQuestionMark ? "ConditionalCast" : "ForceCast",
                cast.expression, to: cast.type)
        case .ifExpr(let branches): self.branches(branches)
        default: refuse(other(expression), at: expression)
        }
    }

    /// The node of a value that is computed when the predicate is made.
    func constant(_ expression: ExprSyntax) -> String {
        if isGuarded, !expression.isOperation, expression.unwraps {
            return refuse(
                "computes this value when it is made, even where a condition in front excludes it. Unwrap it in front of the macro.",
                at: expression)
        }
        return build("Arg", expression.trimmedDescription)
    }

    /// Translates a part that Swift evaluates only if a condition allows it.
    func guarded(_ body: () -> String) -> String {
        let outer = isGuarded
        defer { isGuarded = outer }
        isGuarded = true
        return body()
    }

    private func cast(_ kind: String, _ expression: ExprSyntax, to type: TypeSyntax) -> String {
        "Foundation.PredicateExpressions.\(kind)<_, \(type.trimmedDescription)>(\(node(expression)))"
    }

    /// The name of the node of a condition that is joined with others.
    ///
    /// The node has a statement of its own, so that the compiler infers its types by themselves.
    func condition(_ expression: ExprSyntax) -> String {
        let text = node(expression)
        return expression.inner.isShort ? text : named(text, "condition")
    }

    /// Gives a node a name in the innermost closure.
    func named(_ node: String, _ name: String) -> String {
        guard !statements.isEmpty else { return node }
        let name = uniqueName(name)
        statements[statements.count - 1].append("let \(name) = \(node)")
        return name
    }

    /// A closure with the parameter `parameter`, and the statements that its body needs.
    func closure(_ parameter: String, _ body: () -> String) -> String {
        statements.append([])
        let result = body()
        let own = statements.removeLast()
        if own.isEmpty { return "{ \(parameter) in \(result) }" }
        return "{ \(parameter) in\n\(own.joined(separator: "\n"))\nreturn \(result)\n}"
    }

    /// Why a form of expression has no node.
    private func other(_ expression: ExprSyntax) -> String {
        let reason =
            switch expression.kind {
            case .arrayExpr: "cannot make an array of values of the object."
            case .dictionaryExpr: "cannot make a dictionary of values of the object."
            case .stringLiteralExpr: "cannot make a text with a value of the object."
            case .tupleExpr: "cannot make a tuple of values of the object."
            case .switchExpr: "cannot use 'switch'. Use 'if' or '?:'."
            case .tryExpr: "cannot use 'try'. Compute the value in front of it."
            case .awaitExpr: "cannot use 'await'. Compute the value in front of it."
            case .inOutExpr: "cannot change a value."
            default: "cannot evaluate this expression of the object."
            }
        let hasRemedy: Set<SyntaxKind> = [.switchExpr, .tryExpr, .awaitExpr]
        return hasRemedy.contains(expression.kind) ? reason : "\(reason) \(Self.remedy)"
    }

    static let remedy = "Compare a property, or filter the fetched objects."
}

extension ExprSyntax {
    /// The expression in parentheses, with operators in the order of their precedence.
    var inner: ExprSyntax {
        if let tuple = self.as(TupleExprSyntax.self), tuple.elements.count == 1, let element = tuple.elements.first,
            element.label == nil
        {
            return element.expression.inner
        }
        if let sequence = self.as(SequenceExprSyntax.self) {
            // A custom operator is refused later, or is part of a constant, which keeps its text.
            return OperatorTable.standardOperators.foldSingle(sequence) { _ in }
        }
        return self
    }

    /// Whether the form is refused even if it mentions no value of an object.
    fileprivate var isNeverANode: Bool {
        self.is(TryExprSyntax.self) || self.is(AwaitExprSyntax.self) || self.is(SwitchExprSyntax.self)
            || self.is(InOutExprSyntax.self)
    }

    /// Whether its type depends on the place where it stands, and it has no names but members of that type.
    var isLiteral: Bool {
        if let member = self.as(MemberAccessExprSyntax.self) { return member.base == nil }
        if let prefix = self.as(PrefixOperatorExprSyntax.self) { return prefix.expression.isLiteral }
        if let text = self.as(StringLiteralExprSyntax.self) {
            return text.segments.allSatisfy { $0.is(StringSegmentSyntax.self) }
        }
        if let array = self.as(ArrayExprSyntax.self) { return array.elements.allSatisfy(\.expression.isLiteral) }
        return self.is(NilLiteralExprSyntax.self) || self.is(IntegerLiteralExprSyntax.self)
            || self.is(FloatLiteralExprSyntax.self) || self.is(BooleanLiteralExprSyntax.self)
    }

    /// Whether a node of it needs no statement of its own.
    fileprivate var isShort: Bool {
        if let member = self.as(MemberAccessExprSyntax.self) { return member.base?.isShort ?? true }
        return self.is(DeclReferenceExprSyntax.self) || self.is(BooleanLiteralExprSyntax.self)
    }
}
