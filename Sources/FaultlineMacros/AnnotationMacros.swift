package import SwiftSyntax
package import SwiftSyntaxMacros

/// Behind `@Attribute`, `@Relationship` and `@Transient`: they add nothing, and `@Model` reads them.
package enum PropertyOptionsMacro: PeerMacro {
    package static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        []
    }
}

/// Behind `#Unique`, `#Index` and `#TextIndex`: they add nothing, and `@Model` reads them.
package enum PropertyGroupsMacro: DeclarationMacro {
    package static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        []
    }
}
