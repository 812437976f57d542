internal import SwiftDiagnostics
internal import SwiftSyntax

extension QueryTranslation {
    /// The closure that builds the nodes of a closure.
    func builder(_ closure: ClosureExprSyntax, takesSeveral: Bool = false) -> String {
        if let capture = closure.signature?.capture {
            var signature = closure.signature
            signature?.capture = nil
            let isNeeded = signature?.parameterClause != nil
            let fix = FixIt.replace(
                message: QueryFix("Remove the capture list"), oldNode: closure,
                newNode: closure.with(\.signature, isNeeded ? signature : nil))
            return refuse("needs no capture list. Remove it.", at: capture, fixIts: [fix])
        }
        let outer = variables
        defer { variables = outer }
        let names = closure.signature?.parameterNames
        if let names, names.count != 1, !takesSeveral {
            return refuse("takes a closure with one parameter here.", at: closure)
        }
        for name in variables.keys where name.hasPrefix("$") { variables[name] = nil }
        var parameters: [String] = []
        for (name, token) in names?.map({ ($0.unquoted, Optional($0.text)) }) ?? closure.anonymousParameters {
            let parameter = token ?? uniqueName("object")
            variables[name] = parameter
            parameters.append(parameter)
        }
        return self.closure(parameters.joined(separator: ", ")) { body(closure.statements, at: closure) }
    }

    /// The node of the only expression of a closure or a branch.
    private func body(_ statements: CodeBlockItemListSyntax, at place: some SyntaxProtocol) -> String {
        for statement in statements.dropLast() {
            refuse("takes one expression. Move this statement in front of it.", at: statement.item)
        }
        guard let last = statements.last, statements.count == 1 else {
            return statements.isEmpty ? refuse("needs an expression.", at: place) : "_"
        }
        switch last.item {
        case .expr(let expression): return node(expression)
        case .stmt(let statement):
            if let expression = statement.as(ExpressionStmtSyntax.self)?.expression { return node(expression) }
            if let expression = statement.as(ReturnStmtSyntax.self)?.expression { return node(expression) }
            return refuse("takes an expression, not a statement. Write a condition.", at: statement)
        case .decl(let declaration):
            return refuse("takes an expression, not a declaration. Write a condition.", at: declaration)
        }
    }

    /// The longest text of a value that is repeated for each condition of an `if`.
    private static let repeatedByteCountMax = 2_000

    /// The node of `if` with its branches.
    func branches(_ expression: IfExprSyntax) -> String {
        let otherwise: String
        let isLiteral: Bool
        switch expression.elseBody {
        case .ifExpr(let next): (otherwise, isLiteral) = (branches(next), next.hasLiterals)
        case .codeBlock(let block):
            otherwise = guarded { body(block.statements, at: block) }
            isLiteral = block.statements.last?.item.as(ExprSyntax.self)?.inner.isLiteral ?? false
        case nil: return refuse("needs a branch 'else' with the value for other objects.", at: expression)
        }
        // Each condition has the other value; a literal takes its type from the place where it stands.
        let isRepeated = isLiteral && otherwise.utf8.count <= Self.repeatedByteCountMax
        let shared = expression.conditions.count == 1 || isRepeated ? otherwise : named(otherwise, "otherwise")
        return conditional(Array(expression.conditions)[...], expression.body, shared)
    }

    /// The node of a branch under its remaining conditions.
    private func conditional(
        _ conditions: ArraySlice<ConditionElementSyntax>, _ block: CodeBlockSyntax, _ otherwise: String
    ) -> String {
        guard let first = conditions.first else { return body(block.statements, at: block) }
        let rest = conditions.dropFirst()
        switch first.condition {
        case .expression(let expression):
            let test = condition(expression)
            return build("Conditional", test, guarded { conditional(rest, block, otherwise) }, otherwise)
        case .optionalBinding(let binding):
            guard binding.bindingSpecifier.tokenKind == .keyword(.let),
                let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier
            else { return refuse("takes 'if let' with a name.", at: binding) }
            let value = binding.initializer?.value ?? ExprSyntax(DeclReferenceExprSyntax(baseName: name.trimmed))
            let wrapped = node(value)
            let outer = variables
            defer { variables = outer }
            // The other value, which is inside of this closure too, may have a constant of the same name.
            let parameter = uniqueName(name.unquoted)
            variables[name.unquoted] = parameter
            let inner = closure(parameter) { guarded { conditional(rest, block, otherwise) } }
            return build("NilCoalesce", "lhs: \(build("flatMap", wrapped)) \(inner)", "rhs: \(otherwise)")
        case .matchingPattern, .availability:
            return refuse("takes conditions and 'if let' in 'if'. Compare with '=='.", at: first)
        }
    }
}

extension IfExprSyntax {
    /// Whether the value of each branch is a literal.
    fileprivate var hasLiterals: Bool {
        guard body.statements.last?.item.as(ExprSyntax.self)?.inner.isLiteral == true else { return false }
        return switch elseBody {
        case .ifExpr(let next): next.hasLiterals
        case .codeBlock(let block): block.statements.last?.item.as(ExprSyntax.self)?.inner.isLiteral == true
        case nil: false
        }
    }
}

extension ClosureExprSyntax {
    /// The parameters of a closure without a list of them, `$0` to the last one that it mentions, without names.
    fileprivate var anonymousParameters: [(name: String, text: String?)] {
        let search = AnonymousParameterSearch(viewMode: .sourceAccurate)
        search.walk(statements)
        return (0...search.last).map { ("$\($0)", nil) }
    }
}

/// Looks for the last of the parameters without names, and leaves out inner closures, which have their own.
private final class AnonymousParameterSearch: SyntaxVisitor {
    private(set) var last = 0

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        if case .dollarIdentifier(let name) = node.baseName.tokenKind { last = max(last, Int(name.dropFirst()) ?? 0) }
        return .visitChildren
    }

    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}
