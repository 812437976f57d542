/// Finds words by Unicode's annex 29 (UAX #29) alone: `don't` and `example.com` are words, and each Chinese letter is one.
///
/// A custom tokenizer can filter its words. The built-in tokenizer of an index divides them further.
public struct UnicodeTokenizer: TextTokenizer {
    /// Creates a tokenizer.
    public init() {}

    /// Calls a closure for each segment of a text that has a letter, a number or an emoji.
    public func forEachWord(in text: UnsafeBufferPointer<UInt8>, _ body: (_ word: Range<Int>) -> Void) {
        Self.forEachSegment(in: text) { if $1 { body($0) } }
    }

    /// Calls a closure for the text between any two boundaries.
    package static func forEachSegment(
        in text: UnsafeBufferPointer<UInt8>, _ body: (_ segment: Range<Int>, _ isWord: Bool) -> Void
    ) {
        guard let base = text.baseAddress else { return }
        let breaker = WordBreaker(reader: ScalarReader(bytes: base, count: text.count), table: .shared)
        var offset = 0
        while offset < text.count {
            let (end, isWord) = breaker.segment(from: offset)
            body(offset..<end, isWord)
            offset = end
        }
    }
}
