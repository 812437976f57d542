/// The properties of a Unicode scalar that words and folding need.
struct ScalarEntry {
    /// Bits 0 to 4: `WordBreak`; 5 to 7: flags; 8 to 15: class of combination; 16 to 31: place of the folded text.
    let bits: UInt32

    /// The property Word_Break.
    @inline(__always) var wordBreak: WordBreak { WordBreak(bits: UInt8(truncatingIfNeeded: bits & 0x1F)) }
    /// Extended_Pictographic.
    @inline(__always) var isPictograph: Bool { bits & 0x20 != 0 }
    /// Whether the scalar makes its segment a word: letters, numbers, emoji.
    @inline(__always) var isWord: Bool { bits & 0x40 != 0 }
    /// Whether the scalar belongs to a script that is written without spaces, which is indexed by pairs.
    @inline(__always) var isBigram: Bool { bits & 0x80 != 0 }
    /// The canonical class of combination, of a mark that folding keeps.
    @inline(__always) var combiningClass: UInt8 { UInt8(truncatingIfNeeded: bits >> 8) }
    /// Where the folded text is in `ScalarTable.texts`; 0 if folding keeps the scalar.
    @inline(__always) var foldedText: Int { Int(bits >> 16) }
}

/// The values of the property Word_Break, in the order of `Fixtures/unicode/generate`.
struct WordBreak: Equatable {
    let bits: UInt8

    @inline(__always) init(bits: UInt8) { self.bits = bits }

    static let other = WordBreak(bits: 0)
    static let carriageReturn = WordBreak(bits: 1)
    static let lineFeed = WordBreak(bits: 2)
    static let newline = WordBreak(bits: 3)
    static let extend = WordBreak(bits: 4)
    static let joiner = WordBreak(bits: 5)
    static let format = WordBreak(bits: 6)
    static let regionalIndicator = WordBreak(bits: 7)
    static let katakana = WordBreak(bits: 8)
    static let hebrewLetter = WordBreak(bits: 9)
    static let letter = WordBreak(bits: 10)
    static let singleQuote = WordBreak(bits: 11)
    static let doubleQuote = WordBreak(bits: 12)
    static let middleOfBoth = WordBreak(bits: 13)
    static let middleOfLetters = WordBreak(bits: 14)
    static let middleOfNumbers = WordBreak(bits: 15)
    static let numeric = WordBreak(bits: 16)
    static let connector = WordBreak(bits: 17)
    static let space = WordBreak(bits: 18)

    /// AHLetter of UAX #29.
    @inline(__always) var isLetter: Bool { self == .letter || self == .hebrewLetter }
    /// Scalars that belong to the one before them: rule WB4.
    @inline(__always) var isAttached: Bool { bits >= 4 && bits <= 6 }
    /// Scalars with a boundary on either side.
    @inline(__always) var isLineEnd: Bool { bits >= 1 && bits <= 3 }
    /// May stand between two letters.
    @inline(__always) var joinsLetters: Bool {
        self == .middleOfLetters || self == .middleOfBoth || self == .singleQuote
    }
    /// May stand between two numbers.
    @inline(__always) var joinsNumbers: Bool {
        self == .middleOfNumbers || self == .middleOfBoth || self == .singleQuote
    }
}
