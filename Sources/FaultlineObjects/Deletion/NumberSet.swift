package import FaultlineLog

/// Numbers of objects of one entity: a bit a number, in pages that are made when they are needed.
///
/// Takes an eighth of a byte for each number of the entity at most, however many are in it.
package struct NumberSet {
    private static let wordsAPage = 64
    private static let numbersAPage = RecordID(wordsAPage * 64)

    private var pages: [[UInt64]?] = []
    /// No page below has a number.
    private var firstPage = 0
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    package func contains(_ number: RecordID) -> Bool {
        let page = Int(truncatingIfNeeded: number / Self.numbersAPage)
        guard page < pages.count, let words = pages[page] else { return false }
        return words[Self.word(of: number)] & Self.bit(of: number) != 0
    }

    /// False if the number was there.
    @discardableResult
    package mutating func insert(_ number: RecordID) -> Bool {
        let page = Int(truncatingIfNeeded: number / Self.numbersAPage)
        while pages.count <= page { pages.append(nil) }
        if pages[page] == nil { pages[page] = [UInt64](repeating: 0, count: Self.wordsAPage) }
        let word = Self.word(of: number)
        let bit = Self.bit(of: number)
        guard let old = pages[page]?[word], old & bit == 0 else { return false }
        pages[page]?[word] = old | bit
        firstPage = min(firstPage, page)
        count += 1
        return true
    }

    /// Takes the least number out; nil where there is none.
    package mutating func popFirst() -> RecordID? {
        while firstPage < pages.count {
            if let word = pages[firstPage]?.firstIndex(where: { $0 != 0 }), let bits = pages[firstPage]?[word] {
                pages[firstPage]?[word] = bits & (bits - 1)
                count -= 1
                return Self.number(firstPage, word, bits.trailingZeroBitCount)
            }
            pages[firstPage] = nil
            firstPage += 1
        }
        return nil
    }

    /// Calls `body` with each number, from the least on.
    package func forEach(_ body: (RecordID) throws -> Void) rethrows {
        guard count > 0 else { return }
        for (page, words) in pages.enumerated() {
            guard let words else { continue }
            for (word, bits) in words.enumerated() where bits != 0 {
                var rest = bits
                while rest != 0 {
                    try body(Self.number(page, word, rest.trailingZeroBitCount))
                    rest &= rest - 1
                }
            }
        }
    }

    private static func word(of number: RecordID) -> Int { Int(truncatingIfNeeded: number % numbersAPage / 64) }
    private static func bit(of number: RecordID) -> UInt64 { 1 &<< (number % 64) }
    private static func number(_ page: Int, _ word: Int, _ bit: Int) -> RecordID {
        RecordID(page) * numbersAPage + RecordID(word * 64 + bit)
    }
}
