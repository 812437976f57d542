import Faultline
import FaultlineTestSupport

/// The same entity twice: without text indexes, and with two.
enum PlainMemos {
    @Model final class Memo {
        var serial: Int
        var title: String = ""
        var body: String?
        var tag: String?
        var year: Int = 0

        init(_ serial: Int) { self.serial = serial }
    }
}

enum SearchedMemos {
    @Model final class Memo {
        #TextIndex<Memo>([\.title, \.body], weights: [2, 0.5])
        #Index<Memo>([\.year])
        var serial: Int
        var title: String = ""
        var body: String?
        @Attribute(.spotlight) var tag: String?
        var year: Int = 0

        init(_ serial: Int) { self.serial = serial }
    }
}

typealias Memo = SearchedMemos.Memo

extension Memo {
    private static let words = [
        "sea", "seal", "Seaside", "winter", "boat", "red", "Zürich", "zurich", "море", "Морской", "θάλασσα", "海辺の町",
        "바다", "2026", "3.14", "don't", "x", "naïve", "aside", "boats",
    ]

    /// Some words of a small language.
    static func text(_ count: Int, _ random: inout Seed) -> String {
        var text = ""
        for _ in 0..<count {
            text += words[random.below(words.count)]
            text += [" ", ", ", ". ", " — ", "\n"][random.below(5)]
        }
        return text
    }

    func fill(_ random: inout Seed) {
        title = Self.text(random.below(6), &random)
        switch random.below(12) {
        case 0: body = nil
        case 1: body = ""
        // Stored out of the row; with more positions than a key holds; both.
        case 2: body = Self.text(900, &random)
        case 3: body = String(repeating: "sea ", count: 900)
        case 4: body = String(repeating: "red boat ", count: 440)
        default: body = Self.text(random.below(40), &random)
        }
        tag = random.below(3) == 0 ? nil : Self.text(1, &random)
        year = random.below(5)
    }
}
