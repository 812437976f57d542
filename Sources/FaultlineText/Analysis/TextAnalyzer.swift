/// Turns text into the terms of a full-text index: words, folded.
///
/// The words of the built-in tokenizer follow Unicode's annex 29, with these exceptions, which the annex leaves to
/// applications:
///
/// - Apostrophes, full stops, colons and underscores between letters separate words: `don't` is two words, as
///   `example.com` is. A query for such a text is one for a phrase.
/// - A number keeps its separators between digits: `3.14`. Those of thousands are dropped: `1,234.5` is `1234.5`.
/// - Text in scripts without spaces (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese) is indexed by pairs of
///   letters, and by the last letter of each run alone. So each letter begins exactly one term.
///
/// Folding drops case, accents, points and width, and turns digits of all scripts into those of ASCII. Terms of
/// canonically equivalent texts are equal. A term is valid UTF-8 of 1 to 255 bytes without a zero; longer ones are cut
/// between two scalars.
package struct TextAnalyzer: Sendable {
    /// Version of the built-in tokenizer and of folding.
    ///
    /// Terms of different versions cannot be compared.
    package static let version: UInt16 = 1
    /// Name of the built-in tokenizer.
    package static let words = "words"
    /// Most bytes of a term.
    package static let termByteCountMax = 255

    /// Name of the tokenizer: "words", or the name that the schema has for a custom one.
    package let name: String
    /// Version of the custom tokenizer; 0 for the built-in one.
    package let tokenizerVersion: UInt16
    private let tokenizer: (any TextTokenizer)?

    /// The built-in tokenizer.
    package init() {
        name = Self.words
        tokenizerVersion = 0
        tokenizer = nil
    }

    /// A custom tokenizer, whose words become terms whole: they are folded, and not paired.
    package init(name: String, version: UInt16, tokenizer: some TextTokenizer) {
        self.name = name
        tokenizerVersion = version
        self.tokenizer = tokenizer
    }

    /// Calls a closure for each term of a text, in order.
    ///
    /// Positions count terms from 0. The range is that of the text's bytes. The term is valid during the call.
    /// - Complexity: Linear; allocates nothing.
    package func forEachTerm(
        in text: UnsafeBufferPointer<UInt8>,
        _ body: (_ term: UnsafeBufferPointer<UInt8>, _ position: Int, _ range: Range<Int>) -> Void
    ) {
        forEachTermWithKind(in: text) { term, position, range, _ in body(term, position, range) }
    }

    /// The same, with the kind of each term: queries treat the last letter of a run of pairs in another way.
    @inline(__always)
    func forEachTermWithKind(
        in text: UnsafeBufferPointer<UInt8>,
        _ body: (_ term: UnsafeBufferPointer<UInt8>, _ position: Int, _ range: Range<Int>, _ kind: TermKind) -> Void
    ) {
        guard let base = text.baseAddress, !text.isEmpty else { return }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: TermBuffer.capacity) { memory in
            guard let buffer = memory.baseAddress else { return }
            let reader = ScalarReader(bytes: base, count: text.count)
            if let tokenizer {
                var custom = CustomAnalysis(reader: reader, buffer: buffer)
                tokenizer.forEachWord(in: text) { custom.add($0, body) }
            } else {
                var analysis = WordAnalysis(reader: reader, buffer: buffer)
                analysis.run(body)
            }
        }
    }
}

/// The part that a term has in its text.
enum TermKind {
    /// A word, or two letters of a script without spaces.
    case whole
    /// The last letter of a run of at least two: its pair with the one before has it too.
    case lastOfRun
    /// A run of one letter.
    case single
    /// A word that is longer than a term may be.
    case cut
}
