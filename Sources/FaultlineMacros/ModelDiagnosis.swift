internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxMacros

/// Decides whether a declaration can be a model, and reports to its author why it cannot.
enum ModelDiagnosis {
    /// Refuses declarations that are not classes.
    static func refuse(
        _ declaration: some DeclGroupSyntax, node: AttributeSyntax, in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        let kind =
            if declaration.is(StructDeclSyntax.self) {
                "a structure"
            } else if declaration.is(EnumDeclSyntax.self) {
                "an enumeration"
            } else if declaration.is(ActorDeclSyntax.self) {
                "an actor"
            } else {
                "this declaration"
            }
        context.diagnose(.error("@Model cannot be applied to \(kind). Only a class can be a model.", at: node))
        return []
    }

    /// Whether a class can be expanded at all, judged by its declaration alone.
    static func canExpand(_ declaration: some DeclGroupSyntax, in context: some MacroExpansionContext) -> Bool {
        guard let declaration = declaration.as(ClassDeclSyntax.self) else { return false }
        return declaration.genericParameterClause == nil && !context.lexicalContext.contains(where: isGeneric)
            && !declaresConformance(declaration)
    }

    /// Reports every mistake at its place, and returns whether to make members.
    ///
    /// Mistakes in single properties do not prevent members: without them the compiler would add errors about names
    /// that the author has never seen.
    static func accepts(
        _ declaration: ClassDeclSyntax, body: ModelBody, isRoot: Bool, node: AttributeSyntax,
        in context: some MacroExpansionContext
    ) -> Bool {
        if let generics = declaration.genericParameterClause {
            context.diagnose(
                .error(
                    "@Model cannot be applied to a generic class: an entity has one set of properties.", at: generics))
        } else if context.lexicalContext.contains(where: isGeneric) {
            context.diagnose(
                .error(
                    "@Model cannot be applied to a class in a generic type: an entity has one set of properties.",
                    at: node))
        } else if declaresConformance(declaration) {
            context.diagnose(
                .error(
                    "@Model adds the conformance to PersistentModel by itself. Remove it from the declaration.",
                    at: node))
        } else {
            diagnose(body, of: declaration, in: context)
            if !isRoot { diagnoseInitializers(of: body, declaration, in: context) }
            return true
        }
        return false
    }

    private static func diagnose(
        _ body: ModelBody, of declaration: ClassDeclSyntax, in context: some MacroExpansionContext
    ) {
        if !body.hasInitializer {
            let message = "@Model requires an initializer be provided for '\(declaration.name.text)'."
            context.diagnose(.error(message, at: declaration.name))
        }
        for condition in body.unsettledConditions {
            context.diagnose(.error("Properties of a model cannot be declared conditionally.", at: condition))
        }
        for (variable, kind) in body.others {
            if let mistake = mistake(variable, kind) { context.diagnose(mistake) }
        }
        for property in body.properties {
            guard let observers = property.observers else { continue }
            let message = """
                The observers of '\(property.name)' are not called, because its value is persisted. Do their work in a \
                method that sets it, or mark the property @Transient.
                """
            context.diagnose(.warning(message, at: observers))
        }
    }

    /// The values of a subclass reach the object when the initializer of the superclass has returned.
    private static func diagnoseInitializers(
        of body: ModelBody, _ declaration: ClassDeclSyntax, in context: some MacroExpansionContext
    ) {
        for initializer in body.initializers
        where initializer.body != nil && !initializer.modifiers.contains(.convenience) && !initializer.callsSuperInit {
            context.diagnose(
                .error(
                    """
                    '\(declaration.name.text)' inherits from a model, so that its initializers must call one of the \
                    superclass: add super.init(...).
                    """, at: initializer.initKeyword))
        }
    }

    private static func declaresConformance(_ declaration: ClassDeclSyntax) -> Bool {
        declaration.inheritanceClause?.inheritedTypes.contains { $0.type.lastComponent == "PersistentModel" } ?? false
    }

    private static func isGeneric(_ outer: Syntax) -> Bool {
        outer.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
    }

    /// The mistake in a stored property that is not persisted; nil if there is none.
    private static func mistake(_ variable: VariableDeclSyntax, _ kind: StoredKind) -> Diagnostic? {
        let name = variable.bindings.map { $0.pattern.trimmedDescription }.joined(separator: ", ")
        let isFilled = variable.bindings.allSatisfy { binding in
            binding.initializer != nil || binding.typeAnnotation?.type.isImplicitlyNil == true
        }
        switch kind {
        case .persisted, .untouched: return nil
        case .transient:
            guard !isFilled else { return nil }
            let message = "@Transient requires the non-optional property '\(name)' to have a default value."
            return .error(message, at: variable)
        case .plain:
            let message = "'\(name)' is not persisted, because it is bound by a pattern."
            return isFilled
                ? .warning("\(message) Mark it @Transient to say that this is meant.", at: variable)
                : .error("\(message) Mark it @Transient, and give it a default value.", at: variable)
        case .constant:
            let message = """
                '\(name)' cannot be persisted, because it is a constant. Declare it with 'var', or 'private(set) var' if \
                it should not be changed from outside, or mark it @Transient.
                """
            return .error(message, at: variable)
        case .several:
            let message = "'\(name)' cannot be persisted from one declaration. Declare each property by itself."
            return .error(message, at: variable)
        case .referenceOwnership:
            let message = """
                '\(name)' cannot be persisted, because it is weak or unowned. Remove that, since a relationship does \
                not keep objects in memory, or mark the property @Transient.
                """
            return .error(message, at: variable)
        }
    }
}

extension Diagnostic {
    static func error(_ text: String, at node: some SyntaxProtocol, fixIts: [FixIt] = []) -> Diagnostic {
        Diagnostic(node: node, message: MacroMessage(message: text, severity: .error), fixIts: fixIts)
    }

    static func warning(_ text: String, at node: some SyntaxProtocol) -> Diagnostic {
        Diagnostic(node: node, message: MacroMessage(message: text, severity: .warning))
    }
}

/// A message of a macro to the author of the code it is attached to.
private struct MacroMessage: DiagnosticMessage {
    let message: String
    let severity: DiagnosticSeverity

    var diagnosticID: MessageID { MessageID(domain: "Faultline", id: message) }
}
