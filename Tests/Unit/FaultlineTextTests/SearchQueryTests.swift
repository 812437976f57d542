import FaultlineText
import Testing

@Suite struct SearchQueryTests {
    private func resolve(_ query: SearchQuery) throws(TextQueryError) -> String {
        try query.resolve(analyzer: TextAnalyzer(), fields: ["title", "caption"]).text
    }

    private func error(_ query: SearchQuery) -> TextQueryError? {
        do { _ = try resolve(query) } catch { return error }
        return nil
    }

    @Test func `parts become the terms of a text`() throws {
        #expect(try resolve("sea* NOT winter") == "(sea* & !winter)")
        #expect(
            try resolve(.prefix("sea") && !.word("winter") && .phrase("Red boat")) == "(sea* & !winter & [red boat])")
        #expect(try resolve(.word("a") || .word("b") || .word("c")) == "(a | b | c)")
        #expect(try resolve(.word("a") && (.word("b") || !.word("c"))) == "(a & (b | (all & !c)))")
        #expect(try resolve(!.word("a")) == "(all & !a)")
        #expect(try resolve(!(!.word("a"))) == "a")
        #expect(try resolve(.property("caption", .prefix("東京タ"))) == "1:[東京 京タ]")
        #expect(try resolve(.property("caption", !.word("a"))) == "(all & !1:a)")
        #expect(try resolve(.near(["red boat", "sea"], distance: 2)) == "near(2: [red boat], sea)")
        #expect(try resolve(.near(["red"])) == "red")
        #expect(try resolve(.near(["a", "b"], distance: .max)) == "near(999999: a, b)")
        #expect(try resolve(.all([])) == "all")
        #expect(try resolve(.any([])) == "none")
    }

    @Test func `words take any text`() throws {
        #expect(try resolve(.words("sea -AND \"red (title:b")) == "(sea & and & red & [title b])")
        #expect(try resolve(.words("sea bo", completing: true)) == "(sea & bo*)")
        #expect(try resolve(.words("sea bo ", completing: true)) == "(sea & bo)")
        #expect(try resolve(.words(" + ")) == "none")
        #expect(try resolve(.words("")) == "none")
    }

    @Test func `a part that is no query is an error`() {
        #expect(error("a OR")?.code == .missingWord)
        #expect(error(.word("+"))?.code == .noWord)
        #expect(error(.property("color", .word("a")))?.code == .unknownField)
        #expect(error(.near(["a", "b"], distance: -1))?.code == .invalidNear)
        #expect(error(.near([]))?.code == .invalidNear)
        #expect(error(.word(String(repeating: "x", count: 300)))?.code == .wordTooLong)
        #expect(error(.words(String(repeating: "x ", count: 3_000)))?.code == .queryTooLong)
        let deep = (0..<100).reduce(SearchQuery.word("a")) { query, _ in .property("title", query) }
        #expect(error(deep)?.code == .tooDeep)
        let long = (0..<100).reduce(SearchQuery.word("a")) { query, _ in query && .word("b") }
        #expect(error(long) == nil)
    }
}
