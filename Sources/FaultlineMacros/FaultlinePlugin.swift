internal import SwiftCompilerPlugin
internal import SwiftSyntaxMacros

/// The executable that the compiler starts to expand the library's macros.
@main
struct FaultlinePlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        ModelMacro.self, HeirInitializerMacro.self, PersistedPropertyMacro.self,
        TransformablePersistedPropertyMacro.self,
        PropertyOptionsMacro.self, PropertyGroupsMacro.self, ModelActorMacro.self,
        PredicateMacro.self, ExpressionOfModelMacro.self,
    ]
}
