internal import FaultlineText

extension StoredTextIndex {
    /// Whether this release makes the same terms: otherwise the index is neither read nor kept, and is built anew.
    var isKnown: Bool { version == TextAnalyzer.version && tokenizer == TextAnalyzer.words }

    /// The name and version of this release's tokenizer.
    package static var ownTokenizer: String { "\(TextAnalyzer.words) \(TextAnalyzer.version)" }
}
