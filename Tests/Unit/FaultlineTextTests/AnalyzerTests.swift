import FaultlineText
import Testing

@Suite struct AnalyzerTests {
    private let analyzer = TextAnalyzer()

    private func terms(_ text: String) -> [String] { analyzer.terms(text).map(\.term) }

    @Test func `case, accents and width are folded`() {
        #expect(terms("Ünïcödé STRASSE straße ﬁne") == ["unicode", "strasse", "strasse", "fine"])
        #expect(terms("Øresund Łódź đ ÆON œuvre") == ["oresund", "lodz", "d", "aeon", "oeuvre"])
        #expect(terms("İstanbul ISPARTA ısparta") == ["istanbul", "isparta", "isparta"])
        #expect(terms("ＷＩＤＥ　１２３") == ["wide", "123"])
        #expect(terms("ΣΊΣΥΦΟΣ σίσυφος ᾼ") == ["σισυφοσ", "σισυφοσ", "α"])
        #expect(terms("Ёлка е\u{308}лка Й") == ["елка", "елка", "и"])
        #expect(terms("أَحْمَد مـــرحبا ١٢٣") == ["احمد", "مرحبا", "123"])
    }

    @Test func `marks that are letters of their script stay`() {
        #expect(terms("हिन्दी") == ["हिन्दी"])
        #expect(terms("क\u{93C} \u{958}") == ["क\u{93C}", "क\u{93C}"])
        #expect(terms("か が") == ["か", "が"])
        // In canonical order: the vowel, of class 103, before the tone, of class 107.
        #expect(terms("ก\u{E48}\u{E38}") == ["ก\u{E38}", "\u{E38}\u{E48}", "\u{E48}"])
    }

    @Test func `words are divided at apostrophes, full stops, colons and underscores`() {
        #expect(terms("don't l’avion") == ["don", "t", "l", "avion"])
        #expect(
            terms("example.com a:b snake_case x86_64") == ["example", "com", "a", "b", "snake", "case", "x86", "64"])
        #expect(terms("צה\"ל ג'ירפה") == ["צהל", "גירפה"])
    }

    @Test func `numbers keep their separators but those of thousands`() {
        #expect(terms("1,234.5 12,345,678 1'234.50 1’234") == ["1234.5", "12345678", "1234.50", "1234"])
        #expect(
            terms("3.14 1.2.3 1,5 1,23,456 1234,567 1.234,5") == [
                "3.14", "1.2.3", "1,5", "1,23,456", "1234,567", "1.234,5",
            ])
        #expect(terms("2026-11-28 10:30 3,000kg") == ["2026", "11", "28", "10", "30", "3000kg"])
        #expect(terms("1,234. 5 1.") == ["1234", "5", "1"])
    }

    @Test func `scripts without spaces become pairs and the last letter`() {
        #expect(terms("東京タワー") == ["東京", "京タ", "タワ", "ワー", "ー"])
        #expect(terms("日 日本") == ["日", "日本", "本"])
        #expect(terms("LG전자 3월") == ["lg", "전자", "자", "3", "월"])
        #expect(terms("東京 a 日b 한 ab") == ["東京", "京", "a", "日", "b", "한", "ab"])
        #expect(terms("ｶﾞｷﾞ") == ["ガギ", "ギ"])
        #expect(terms("ก็คือ") == ["ก็", "็ค", "คื", "ือ", "อ"])
    }

    @Test func `positions and ranges follow the text`() {
        let found = analyzer.terms("Ab, 東京x")
        #expect(found.map(\.position) == [0, 1, 2, 3])
        #expect(found.map(\.range) == [0..<2, 4..<10, 7..<10, 10..<11])
    }

    @Test func `emoji are words without their color`() {
        #expect(terms("👍🏽 ❤️ 🇩🇪🇫🇷 a😀b") == ["👍", "❤", "🇩🇪", "🇫🇷", "a", "😀", "b"])
    }

    @Test func `a long word is cut between scalars`() {
        #expect(terms(String(repeating: "a", count: 300)) == [String(repeating: "a", count: 255)])
        #expect(terms("a" + String(repeating: "я", count: 300)) == ["a" + String(repeating: "я", count: 127)])
        #expect(terms("b" + String(repeating: "𐐨", count: 64)) == ["b" + String(repeating: "𐐨", count: 63)])
    }
}

extension TextAnalyzer {
    struct FoundTerm: Equatable {
        let term: String
        let position: Int
        let range: Range<Int>
    }

    func terms(_ text: String) -> [FoundTerm] { terms(Array(text.utf8)) }

    func terms(_ bytes: [UInt8]) -> [FoundTerm] {
        var found: [FoundTerm] = []
        bytes.withUnsafeBufferPointer { text in
            forEachTerm(in: text) { term, position, range in
                found.append(FoundTerm(term: String(decoding: term, as: UTF8.self), position: position, range: range))
            }
        }
        return found
    }
}
