package import SwiftSyntax
internal import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// Gives the object the first values of a subclass's properties as soon as the initializer of the superclass has
/// returned: attached to each designated initializer of a model class that inherits from another one.
package enum HeirInitializerMacro: BodyMacro {
    /// Keeps the layout of the body as its author wrote it.
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
        of node: AttributeSyntax,
        providingBodyFor declaration: some DeclSyntaxProtocol & WithOptionalCodeBlockSyntax,
        in context: some MacroExpansionContext
    ) throws -> [CodeBlockItemSyntax] {
        guard let body = declaration.body else { return [] }
        return Array(SuperCallRewriter().visit(body.statements))
    }
}

/// Adds a statement behind each call of an initializer of the superclass.
private final class SuperCallRewriter: SyntaxRewriter {
    override func visit(_ node: CodeBlockItemListSyntax) -> CodeBlockItemListSyntax {
        var items: [CodeBlockItemSyntax] = []
        for item in super.visit(node) {
            items.append(item)
            guard case .expr(let expression) = item.item, expression.callsSuperInit else { continue }
            items.append("\n_ = \(raw: RuntimeNames.coreAddress)()")
        }
        return CodeBlockItemListSyntax(items)
    }

    // The statements of a closure are not those of the initializer.
    override func visit(_ node: ClosureExprSyntax) -> ExprSyntax { ExprSyntax(node) }
}

extension ExprSyntax {
    /// Whether the expression is a call of an initializer of the superclass, perhaps one that throws or suspends.
    fileprivate var callsSuperInit: Bool {
        if let tried = self.as(TryExprSyntax.self) { return tried.expression.callsSuperInit }
        if let awaited = self.as(AwaitExprSyntax.self) { return awaited.expression.callsSuperInit }
        return self.as(FunctionCallExprSyntax.self)?.isSuperInit == true
    }
}
