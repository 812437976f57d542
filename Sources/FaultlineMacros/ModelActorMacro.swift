internal import SwiftDiagnostics
package import SwiftSyntax
internal import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// Makes an actor run on an executor that owns a model context.
package enum ModelActorMacro: MemberMacro, ExtensionMacro {
    /// Keeps the layout, as `ModelMacro` does.
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let declaration = declaration.as(ActorDeclSyntax.self) else {
            context.diagnose(.error("@ModelActor can be applied to an actor only.", at: node))
            return []
        }
        let prefix = RuntimeNames.prefix
        let access = declaration.modifiers.witnessAccess
        var members: [DeclSyntax] = [
            "\(raw: access)nonisolated let modelExecutor: any \(raw: prefix)ModelExecutor",
            "\(raw: access)nonisolated let modelContainer: \(raw: prefix)ModelContainer",
        ]
        if needsInitializer(declaration) {
            members.append(
                """
                \(raw: access)init(modelContainer: \(raw: prefix)ModelContainer) {
                    let modelContext = \(raw: prefix)ModelContext(modelContainer)
                    self.modelExecutor = \(raw: prefix)DefaultSerialModelExecutor(modelContext: modelContext)
                    self.modelContainer = modelContainer
                }
                """)
        }
        return members
    }

    package static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard declaration.is(ActorDeclSyntax.self), !protocols.isEmpty else { return [] }
        let conformance: DeclSyntax = "extension \(type.trimmed): \(raw: RuntimeNames.prefix)ModelActor {\n}"
        return [conformance].compactMap { $0.as(ExtensionDeclSyntax.self) }
    }

    /// Whether the usual initializer is missing and would set all stored properties.
    private static func needsInitializer(_ declaration: ActorDeclSyntax) -> Bool {
        declaration.memberBlock.members.map(\.decl).allSatisfy { member in
            if let initializer = member.as(InitializerDeclSyntax.self) {
                let labels = initializer.signature.parameterClause.parameters.map(\.firstName.text)
                return labels != ["modelContainer"]
            }
            guard let variable = member.as(VariableDeclSyntax.self), StoredKind(of: variable) != .untouched else {
                return true
            }
            return variable.bindings.allSatisfy { binding in
                binding.initializer != nil
                    || (binding.typeAnnotation?.type.isImplicitlyNil == true
                        && variable.bindingSpecifier.tokenKind == .keyword(.var))
            }
        }
    }
}
