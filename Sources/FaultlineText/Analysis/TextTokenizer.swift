/// Finds the words of a text for a full-text index, instead of the rules of Unicode.
///
/// A tokenizer is named in the schema, and its name and version are kept in the store. It must always find the same
/// words in the same text. Words are folded afterwards: case, diacritics and width.
public protocol TextTokenizer: Sendable {
    /// Calls a closure for each word of a text, in order.
    ///
    /// - Parameters:
    ///   - text: UTF-8, valid during the call.
    ///   - body: Takes the offsets of a word's bytes. Empty ranges, and those beyond the text, are left out.
    /// - Complexity: Called once for each text that is saved or searched for.
    func forEachWord(in text: UnsafeBufferPointer<UInt8>, _ body: (_ word: Range<Int>) -> Void)
}
