internal import Foundation

/// A regular expression that a whole text matches.
struct TextPattern: Sendable {
    private let pattern: NSRegularExpression
    private let ignoresDiacritics: Bool

    /// Nil for text that is no regular expression.
    init?(_ text: String, ignoresCase: Bool, ignoresDiacritics: Bool) {
        let folded = ignoresDiacritics ? text.folding(options: .diacriticInsensitive, locale: nil) : text
        let options: NSRegularExpression.Options = ignoresCase ? .caseInsensitive : []
        // The text alone comes first: parentheses of its own could close those around it.
        guard (try? NSRegularExpression(pattern: folded, options: options)) != nil,
            let pattern = try? NSRegularExpression(pattern: "\\A(?:\(folded))\\z", options: options)
        else { return nil }
        self.pattern = pattern
        self.ignoresDiacritics = ignoresDiacritics
    }

    /// Whether the whole text matches.
    ///
    /// - Throws: `ExpressionFailure` if the evaluation needs too much memory.
    func matches(_ text: String) throws -> Bool {
        let text = ignoresDiacritics ? text.folding(options: .diacriticInsensitive, locale: nil) : text
        var isMatch = false
        var isFailed = false
        pattern.enumerateMatches(
            in: text, options: .reportCompletion, range: NSRange(text.startIndex..., in: text)
        ) { result, flags, _ in
            if result != nil { isMatch = true }
            if flags.contains(.internalError) { isFailed = true }
        }
        guard !isFailed else {
            throw ExpressionFailure(text: "The regular expression \("\(pattern.pattern)".excerpt) ended with an error.")
        }
        return isMatch
    }
}
