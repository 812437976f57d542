internal import FaultlineDisk
package import FaultlineLog

/// A set of object numbers of one entity: one bit for each number, in pages that are allocated on demand.
///
/// Takes at most an eighth of a byte for each number of the entity, plus a constant, for any count in the set; and at
/// most about 600 bytes for each member, for any numbers.
package struct NumberSet {
    private static let wordsAPage = 64
    private static let numbersAPage = RecordID(wordsAPage * 64)

    private var pages: [RecordID: [UInt64]] = [:]
    /// The numbers of the allocated pages, in order.
    private var order: [RecordID] = []
    /// All pages at lower indexes are empty.
    private var firstPlace = 0
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    package func contains(_ number: RecordID) -> Bool {
        guard count > 0, let words = pages[number / Self.numbersAPage] else { return false }
        return words[Self.word(of: number)] & Self.bit(of: number) != 0
    }

    /// - Returns: False if the number was in the set.
    @discardableResult
    package mutating func insert(_ number: RecordID) -> Bool {
        let page = number / Self.numbersAPage
        let word = Self.word(of: number)
        let bit = Self.bit(of: number)
        if let old = pages[page]?[word] {
            guard old & bit == 0 else { return false }
            pages[page]?[word] = old | bit
            if firstPlace > 0 { firstPlace = min(firstPlace, place(of: page)) }
        } else {
            var words = [UInt64](repeating: 0, count: Self.wordsAPage)
            words[word] = bit
            pages[page] = words
            // Nearly always after the others.
            let place = order.last.map { $0 < page } ?? true ? order.count : place(of: page)
            order.insert(page, at: place)
            firstPlace = min(firstPlace, place)
        }
        count += 1
        return true
    }

    /// Removes a number.
    ///
    /// - Returns: False if it was not in the set.
    @discardableResult
    package mutating func remove(_ number: RecordID) -> Bool {
        guard contains(number) else { return false }
        pages[number / Self.numbersAPage]?[Self.word(of: number)] &= ~Self.bit(of: number)
        count -= 1
        return true
    }

    /// The first index of a page that is not below `page`.
    private func place(of page: RecordID) -> Int {
        order.partitionPoint { $0 < page }
    }

    /// Removes and returns the least number; nil if the set is empty.
    package mutating func popFirst() -> RecordID? {
        while firstPlace < order.count {
            let page = order[firstPlace]
            if let word = pages[page]?.firstIndex(where: { $0 != 0 }), let bits = pages[page]?[word] {
                pages[page]?[word] = bits & (bits - 1)
                count -= 1
                return Self.number(page, word, bits.trailingZeroBitCount)
            }
            firstPlace += 1
        }
        // The set is empty: its memory is freed.
        pages.removeAll()
        order.removeAll()
        firstPlace = 0
        return nil
    }

    /// Calls `body` with each number, from the least on.
    package func forEach(_ body: (RecordID) throws -> Void) rethrows {
        guard count > 0 else { return }
        for page in order {
            guard let words = pages[page] else { continue }
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
    private static func number(_ page: RecordID, _ word: Int, _ bit: Int) -> RecordID {
        page * numbersAPage + RecordID(word * 64 + bit)
    }
}
