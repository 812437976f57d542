internal import SwiftSyntax

extension QueryTranslation {
    /// Whether a value of an object takes part in an expression.
    func mentionsVariable(_ expression: ExprSyntax) -> Bool {
        let search = VariableSearch(Set(variables.keys), Set(unwrapped.keys))
        search.walk(expression)
        return search.isFound
    }
}

/// Looks for names that stand for values of an object, and leaves out names that inner closures hide.
private final class VariableSearch: SyntaxVisitor {
    private(set) var isFound = false
    private let names: Set<String>
    private let parts: Set<SyntaxIdentifier>
    /// The names that each closure around the current place declares.
    private var hidden: [Set<String>] = []

    init(_ names: Set<String>, _ parts: Set<SyntaxIdentifier>) {
        self.names = names
        self.parts = parts
        super.init(viewMode: .sourceAccurate)
    }

    private func meet(_ name: TokenSyntax) {
        let name = name.unquoted
        if names.contains(name), !hidden.contains(where: { $0.contains(name) }) { isFound = true }
    }

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        let isMember = node.parent?.as(MemberAccessExprSyntax.self)?.declName.id == node.id
        if !isMember, node.parent?.is(KeyPathPropertyComponentSyntax.self) != true { meet(node.baseName) }
        return .visitChildren
    }

    override func visit(_ node: OptionalChainingExprSyntax) -> SyntaxVisitorContinueKind {
        if parts.contains(node.id) { isFound = true }
        return .visitChildren
    }

    override func visit(_ node: OptionalBindingConditionSyntax) -> SyntaxVisitorContinueKind {
        // `if let name` reads the name.
        if node.initializer == nil, let name = node.pattern.as(IdentifierPatternSyntax.self)?.identifier { meet(name) }
        return .visitChildren
    }

    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind {
        let declarations = DeclarationSearch(viewMode: .sourceAccurate)
        declarations.walk(node.statements)
        let parameters = node.signature?.parameterNames?.map(\.unquoted) ?? names.filter { $0.hasPrefix("$") }
        hidden.append(declarations.names.union(parameters))
        return .visitChildren
    }

    override func visitPost(_ node: ClosureExprSyntax) { hidden.removeLast() }
}

/// Collects the names that statements declare.
private final class DeclarationSearch: SyntaxVisitor {
    private(set) var names: Set<String> = []

    override func visit(_ node: OptionalBindingConditionSyntax) -> SyntaxVisitorContinueKind {
        node.initializer == nil ? .skipChildren : .visitChildren
    }

    override func visit(_ node: IdentifierPatternSyntax) -> SyntaxVisitorContinueKind {
        names.insert(node.identifier.unquoted)
        return .visitChildren
    }
}

extension ClosureSignatureSyntax {
    /// The names of the parameters; nil without a list of them.
    var parameterNames: [TokenSyntax]? {
        switch parameterClause {
        case .simpleInput(let names): names.map(\.name.trimmed)
        case .parameterClause(let clause): clause.parameters.map { ($0.secondName ?? $0.firstName).trimmed }
        case nil: nil
        }
    }
}
