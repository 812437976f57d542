/// Why a search query was refused, with the place in its text.
public struct TextQueryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: String, Sendable, CaseIterable {
        /// The query has more than 4,096 bytes.
        case queryTooLong
        /// A word has more than 255 bytes when it is folded.
        case wordTooLong
        /// A word or a phrase has no letter and no number.
        case noWord
        /// A quotation mark or a parenthesis is not closed, or not opened.
        case unbalanced
        /// A word must follow, or stand before, an operator, a field or a parenthesis.
        case missingWord
        /// An asterisk does not end a word or a phrase.
        case misplacedAsterisk
        /// A minus begins a word, as it does in other query languages.
        case misplacedMinus
        /// `NEAR` has something else than words, phrases and a number.
        case invalidNear
        /// No field of the index has that name.
        case unknownField
        /// Parentheses are nested too deeply.
        case tooDeep
        /// A prefix stands for more than 1,024 words of the index.
        case prefixTooShort
    }

    /// The kind of error, for programs.
    public let code: Code
    /// The place in the query, in bytes of UTF-8.
    public let offset: Int
    /// The mistake and its remedy, in full sentences.
    public let message: String

    package init(_ code: Code, at offset: Int, _ message: String) {
        self.code = code
        self.offset = offset
        self.message = message
    }

    /// The error for a prefix that stands for too many words of an index.
    package static func prefixTooShort(_ term: TextTerm) -> TextQueryError {
        TextQueryError(
            .prefixTooShort, at: term.offset,
            "\(term) stands for more than \(TextQuery.expansionMax) words of the index. Write more of its letters.")
    }

    static func queryTooLong(_ byteCount: Int) -> TextQueryError {
        TextQueryError(
            .queryTooLong, at: TextQuery.byteCountMax,
            "The query has \(byteCount) bytes, and may have \(TextQuery.byteCountMax). Shorten it.")
    }

    static func noWord(at offset: Int) -> TextQueryError {
        TextQueryError(
            .noWord, at: offset, "There is no letter and no number to search for. Write a word, or remove this part.")
    }

    static func tooDeep(at offset: Int) -> TextQueryError {
        TextQueryError(
            .tooDeep, at: offset, "Parts are nested in more than \(TextQuery.depthMax) levels. Simplify the query.")
    }

    static func unknownField(_ name: String, of fields: [String], at offset: Int) -> TextQueryError {
        let names = fields.map { "`\($0)`" }.joined(separator: ", ")
        return TextQueryError(
            .unknownField, at: offset,
            "The search has no field `\(name)`. Use one of \(names), or put the word in quotes.")
    }

    /// The message and the place.
    public var description: String { "\(message) (byte \(offset) of the query)" }
}
