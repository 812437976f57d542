import Testing

/// An expression with `#Predicate` or `#Expression`, expanded, and the diagnostics.
struct PredicateExpansion {
    /// On one line, without the names of Foundation; names that the macro makes are `object0`, `value1` and so on.
    let text: String
    /// Column, severity and message of each diagnostic.
    let diagnostics: [String]

    /// Expands the macro at the beginning of a source text of one line.
    init(_ source: String) {
        do {
            let macro = source.hasPrefix("#Predicate") ? "PredicateMacro" : "ExpressionOfModelMacro"
            let location = PluginRequest.SyntaxText.Location(
                fileID: "Models/Models.swift", fileName: "Models.swift", offset: 0, line: 1, column: 1)
            let expansion = try MacroPlugin().expand(
                .expandFreestandingMacro(
                    macro: PluginRequest.MacroName(
                        moduleName: "FaultlineMacros", typeName: macro, name: "Predicate"),
                    macroRole: .expression, discriminator: "$s",
                    syntax: PluginRequest.SyntaxText(kind: .expression, source: source, location: location),
                    lexicalContext: [], staticBuildConfiguration: nil))
            text = Self.shortened(expansion.expandedSource ?? "")
            diagnostics = expansion.diagnostics.map { "\($0.position.offset + 1): \($0.severity): \($0.message)" }
        } catch {
            Issue.record(error)
            text = ""
            diagnostics = []
        }
    }

    private static func shortened(_ text: String) -> String {
        // `_s6objectfMu_`, `_s6objectfMu0_`: the length of the name, the name, the number of the use.
        text.replacing(/_s[0-9]+([a-z]+)fMu([0-9]*)_/) { match in
            "\(match.1)\(match.2.isEmpty ? "0" : String((Int(match.2) ?? 0) + 1))"
        }
        .replacing("Foundation.PredicateExpressions.build_", with: "")
        .replacing("Foundation.", with: "")
        .replacing("\n", with: "; ")
    }
}
