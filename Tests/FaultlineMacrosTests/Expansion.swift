internal import FaultlineMacroSources
internal import SwiftDiagnostics
internal import SwiftIfConfig
internal import SwiftParser
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacroExpansion
internal import SwiftSyntaxMacros

/// The expansion of a source text's macros.
struct Expansion {
    let text: String
    /// Line, column, severity and message of each diagnostic, in order.
    let diagnostics: [String]

    /// The library's macros under the users' names; `Submodel` is `Model` on a class whose parent is a model, and
    /// `ObservableModel` on one that conforms to `Observable` itself.
    private static var specs: [String: MacroSpec] {
        [
            "Model": MacroSpec(type: ModelMacro.self, conformances: ["PersistentModel", "Observable", "Sendable"]),
            "Submodel": MacroSpec(type: ModelMacro.self),
            "ObservableModel": MacroSpec(type: ModelMacro.self, conformances: ["PersistentModel", "Sendable"]),
            "_PersistedProperty": MacroSpec(type: PersistedPropertyMacro.self),
            "_TransformablePersistedProperty": MacroSpec(type: TransformablePersistedPropertyMacro.self),
            "Attribute": MacroSpec(type: PropertyOptionsMacro.self),
            "Relationship": MacroSpec(type: PropertyOptionsMacro.self),
            "Transient": MacroSpec(type: PropertyOptionsMacro.self),
            "Unique": MacroSpec(type: PropertyGroupsMacro.self),
            "Index": MacroSpec(type: PropertyGroupsMacro.self),
            "ModelActor": MacroSpec(type: ModelActorMacro.self, conformances: ["ModelActor"]),
        ]
    }

    /// Expands the macros in a source text, as the compiler would in a language mode.
    ///
    /// Without one, macros cannot see the settings of the compiler.
    init(of source: String, languageMode: Int? = nil) {
        let file = Parser.parse(source: source)
        let context = BasicMacroExpansionContext(
            sourceFiles: [file: .init(moduleName: "Models", fullFilePath: "Models.swift")],
            buildConfiguration: languageMode.map { mode in
                StaticBuildConfiguration(
                    customConditions: ["LARGE"], languageVersion: VersionTuple(mode),
                    compilerVersion: VersionTuple(6, 3))
            })
        let expanded = file.expand(
            macroSpecs: Expansion.specs,
            contextGenerator: { node in
                BasicMacroExpansionContext(sharingWith: context, lexicalContext: node.allMacroLexicalContexts())
            }, indentationWidth: .spaces(4))
        text = expanded.description
        diagnostics = context.diagnostics.map { diagnostic in
            let place = context.location(
                for: diagnostic.position, anchoredAt: diagnostic.node, fileName: "Models.swift")
            let message = diagnostic.diagMessage
            return "\(place.line):\(place.column): \(message.severity): \(message.message)"
        }
    }

    /// The lines that contain a word, without the space around them.
    func lines(containing word: String) -> [String] {
        text.split(separator: "\n").filter { $0.contains(word) }.map { line in String(line.drop { $0 == " " }) }
    }
}
