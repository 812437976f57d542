internal import SwiftDiagnostics
package import SwiftSyntax
internal import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// Behind `#Predicate`.
package enum PredicateMacro: ExpressionMacro {
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> ExprSyntax {
        try QueryTranslation("Predicate", context).expansion(of: node)
    }
}

/// Behind `#Expression`.
package enum ExpressionOfModelMacro: ExpressionMacro {
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> ExprSyntax {
        try QueryTranslation("Expression", context).expansion(of: node)
    }
}

extension QueryTranslation {
    /// The call of Foundation's initializer with a closure that builds the nodes.
    ///
    /// - Throws: `DiagnosticsError` with each mistake in the closure.
    func expansion(of node: some FreestandingMacroExpansionSyntax) throws -> ExprSyntax {
        let arguments = node.arguments.compactMap { $0.expression.as(ClosureExprSyntax.self) }
        guard let closure = node.trailingClosure ?? arguments.first,
            node.arguments.count + (node.trailingClosure == nil ? 0 : 1) == 1
        else {
            refuse("needs its condition as a closure in braces.", at: node.macroName)
            throw DiagnosticsError(diagnostics: mistakes)
        }
        let types = node.genericArgumentClause?.trimmedDescription ?? ""
        let body = builder(closure, takesSeveral: true)
        guard mistakes.isEmpty else { throw DiagnosticsError(diagnostics: mistakes) }
        return "Foundation.\(raw: macroName)\(raw: types)(\(raw: body))"
    }
}
