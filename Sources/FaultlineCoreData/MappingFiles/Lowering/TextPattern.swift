internal import Foundation

/// A regular expression that a whole text matches.
struct TextPattern: Sendable {
    private let pattern: NSRegularExpression
    private let ignoresDiacritics: Bool

    /// Nil for text that is no regular expression.
    init?(_ text: String, ignoresCase: Bool, ignoresDiacritics: Bool) {
        let folded = ignoresDiacritics ? text.folding(options: .diacriticInsensitive, locale: nil) : text
        let options: NSRegularExpression.Options = ignoresCase ? .caseInsensitive : []
        guard let pattern = try? NSRegularExpression(pattern: "^(?:\(folded))$", options: options) else { return nil }
        self.pattern = pattern
        self.ignoresDiacritics = ignoresDiacritics
    }

    func matches(_ text: String) -> Bool {
        let text = ignoresDiacritics ? text.folding(options: .diacriticInsensitive, locale: nil) : text
        let whole = NSRange(text.startIndex..., in: text)
        // `$` also stands before a line break at the end.
        return pattern.firstMatch(in: text, range: whole)?.range == whole
    }
}
