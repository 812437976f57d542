/// Makes documents whose words are drawn by Zipf's law, and queries for them; the same at every run.
package struct DocumentMaker: Sendable {
    /// A document: a title of 3 to 6 words, a body of 20 to 90.
    package struct Document: Sendable {
        package let title: String
        package let body: String

        package var byteCount: Int { title.utf8.count + body.utf8.count }
    }

    /// The kinds of queries.
    package enum Query: String, CaseIterable, Sendable {
        case word, two, phrase, prefix
    }

    private static let wordCount = 50_000
    private let words: [String]
    /// The shares of all words up to each, of 2^32.
    private let shares: [UInt64]

    package init() {
        words = (0..<Self.wordCount).map(Self.word)
        var sum = 0.0
        let sums = (0..<Self.wordCount).map { rank in
            sum += 1 / Double(rank + 3)
            return sum
        }
        let all = sum
        shares = sums.map { UInt64($0 / all * 4_294_967_296) }
    }

    /// Syllables of two letters, and an ending for most.
    private static func word(_ rank: Int) -> String {
        let consonants = Array("tnsrhldcmpgwbv"), vowels = Array("eaoiu"), endings = ["n", "r", "st", "ck"]
        var text = ""
        var rest = rank
        repeat {
            text.append(consonants[rest / 5 % 14])
            text.append(vowels[rest % 5])
            rest /= 70
        } while rest > 0
        return rank < 70 ? text : text + endings[rank * 7 % 4]
    }

    private func draw(_ source: inout SplitMix64) -> String {
        let share = source.draw() >> 32
        var low = 0, high = shares.count - 1
        while low < high {
            let middle = (low + high) / 2
            if shares[middle] <= share { low = middle + 1 } else { high = middle }
        }
        return words[low]
    }

    /// The document of a number, from 1 on.
    package func document(_ id: Int) -> Document {
        var source = SplitMix64(0xD0C5_0000_0000 &+ UInt64(id))
        let titleCount = 3 + source.draw(below: 4), bodyCount = 20 + source.draw(below: 71)
        let title = (0..<titleCount).map { _ in draw(&source) }.joined(separator: " ")
        let body = (0..<bodyCount).map { _ in draw(&source) }.joined(separator: " ")
        return Document(title: title, body: body)
    }

    /// Queries over documents 1 to `bound`, in the language of FTS5 and of Faultline: words from frequent to rare, and
    /// phrases that a document has.
    package func queries(_ kind: Query, count: Int, bound: Int) -> [String] {
        var source = SplitMix64(0x5EA2C4)
        // Each power of two of the rank is as likely as another.
        func word() -> String { words[min((8 << source.draw(below: 12)) + source.draw(below: 8), Self.wordCount - 1)] }
        return (0..<count).map { _ in
            switch kind {
            case .word: return word()
            case .two: return "\(word()) \(draw(&source))"
            case .phrase:
                let body = document(source.draw(below: bound) + 1).body.split(separator: " ")
                let start = source.draw(below: body.count - 1)
                return "\"\(body[start]) \(body[start + 1])\""
            case .prefix: return "\(word().prefix(3))*"
            }
        }
    }
}
