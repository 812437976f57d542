import PackageArchive
import Testing

@Suite struct WrittenMaintainerTests {
    @Test func splitsNameAndMail() {
        let written = WrittenMaintainer("Anna Ek <anna@example.org>")
        #expect(written.name == "Anna Ek")
        #expect(written.mail == "anna@example.org")
    }

    @Test func keepsTextWithoutAnAddressAsTheName() {
        for text in ["", "Anna Ek", "<broken", "a > b"] {
            #expect(WrittenMaintainer(text).name == text)
            #expect(WrittenMaintainer(text).mail == "")
        }
    }

    @Test func takesTheLastBracketsAsTheAddress() {
        let written = WrittenMaintainer("Team <x> of <team@example.org>")
        #expect(written.name == "Team <x> of")
        #expect(written.mail == "team@example.org")
    }
}
