import Testing

/// A source text with its macros expanded, and their diagnostics.
struct Expansion {
    let text: String
    /// Line, column, severity and message of each diagnostic, in order.
    let diagnostics: [String]

    /// Expands the macros in a source text, as the compiler would in a language mode.
    ///
    /// Without one, macros learn nothing about the settings of the compiler. Where the plugin cannot expand, the test
    /// fails and says why.
    init(of source: String, languageMode: Int? = nil) {
        do {
            var expander = MacroExpander(
                source: SourceText(source), plugin: try MacroPlugin(), languageMode: languageMode)
            text = try expander.expanded()
            diagnostics = expander.diagnostics
        } catch {
            Issue.record(error)
            text = ""
            diagnostics = []
        }
    }

    /// The lines that contain a word, without the space around them.
    func lines(containing word: String) -> [String] {
        text.split(separator: "\n").filter { $0.contains(word) }.map { line in String(line.drop { $0 == " " }) }
    }
}
