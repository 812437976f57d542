package import SwiftSyntax
internal import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// Makes a class a model: gives it a core, accessors that use it, and a description of its properties.
package enum ModelMacro: MemberMacro, MemberAttributeMacro, ExtensionMacro {
    /// Keeps the layout of the text as written here: formatting took half of the plugin's time.
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let declaration = declaration.as(ClassDeclSyntax.self) else {
            return ModelDiagnosis.refuse(declaration, node: node, in: context)
        }
        let body = ModelBody(of: declaration, in: context)
        let isRoot = protocols.contains { $0.lastComponent == "PersistentModel" }
        guard ModelDiagnosis.accepts(declaration, body: body, isRoot: isRoot, node: node, in: context) else {
            return []
        }
        return ModelMembers(of: declaration, body: body, isRoot: isRoot, originalName: originalName(in: node)).all
    }

    /// The argument of `@Model(originalName:)`.
    private static func originalName(in node: AttributeSyntax) -> String? {
        guard case .argumentList(let arguments) = node.arguments else { return nil }
        return arguments.first { $0.label?.text == "originalName" }?.expression.trimmedDescription
    }

    package static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        guard ModelDiagnosis.canExpand(declaration, in: context) else { return [] }
        let mayInherit = declaration.as(ClassDeclSyntax.self)?.mayInherit == true
        if let initializer = member.as(InitializerDeclSyntax.self) {
            return attributes(of: initializer, mayInherit: mayInherit)
        }
        guard member.is(VariableDeclSyntax.self),
            let (slot, property) = ModelBody(of: declaration, in: context).slot(of: member)
        else { return [] }
        let name = property.isTransformable ? "_TransformablePersistedProperty" : "_PersistedProperty"
        let inheriting = mayInherit ? ", mayInherit: true" : ""
        return ["@\(raw: RuntimeNames.prefix)\(raw: name)(\(raw: slot)\(raw: inheriting))"]
    }

    /// Keeps an initializer from being inlined.
    ///
    /// A relationship leads to its object by the address of the core, which the compiler does not see. Where it inlined
    /// the initializer, it would take the object for one that only the calling function knows: it would put it on the
    /// stack, and leave out stores to its properties.
    private static func attributes(
        of initializer: InitializerDeclSyntax, mayInherit: Bool
    ) -> [AttributeSyntax] {
        if initializer.modifiers.contains(.convenience) { return [] }
        // Beside `@inline(__always)` the compiler refuses a second one.
        let given = initializer.attributes.attribute(named: "inline")?.arguments?.trimmedDescription
        let inlining: [AttributeSyntax] = given == "never" ? [] : ["@inline(never)"]
        guard mayInherit, initializer.callsSuperInit else { return inlining }
        return inlining + ["@\(raw: RuntimeNames.prefix)_HeirInitializer"]
    }

    /// Adds the conformances that the class lacks: all three, unless its author has written one out.
    package static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard ModelDiagnosis.canExpand(declaration, in: context) else { return [] }
        let prefix = RuntimeNames.prefix
        let extensions: [DeclSyntax] = protocols.compactMap { conformance in
            switch conformance.lastComponent {
            case "PersistentModel": "extension \(type.trimmed): nonisolated \(raw: prefix)PersistentModel {\n}"
            case "Observable": "extension \(type.trimmed): nonisolated \(raw: prefix)Observable {\n}"
            case "Sendable":
                """
                @available(*, unavailable, message: "Models cannot cross actors: pass the persistentModelID, or use a \
                ModelActor.")
                extension \(type.trimmed): Sendable {
                }
                """
            default: nil
            }
        }
        return extensions.compactMap { $0.as(ExtensionDeclSyntax.self) }
    }
}
