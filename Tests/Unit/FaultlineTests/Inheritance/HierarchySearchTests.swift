import Faultline
import Testing

/// A root class with a declared text index, and another one of a marked attribute.
@Model class Essay {
    #TextIndex<Essay>([\.title, \.body])
    var title: String
    var body: String
    @Attribute(.spotlight) var tag: String = "tag"

    init(title: String, body: String) {
        self.title = title
        self.body = body
    }
}

@Model final class Critique: Essay {
    var verdict: String

    init(title: String, body: String, verdict: String) {
        self.verdict = verdict
        super.init(title: title, body: body)
    }
}

/// Searches for words in the texts of one class of a hierarchy.
struct HierarchySearchTests {
    /// A store with three letters and three postcards of the same texts.
    private func letters() throws -> TestStore {
        let store = try TestStore(Letter.self, Postcard.self)
        let context = store.context()
        for number in 1...3 {
            context.insert(Letter(text: "greetings \(number)"))
            context.insert(Postcard(text: "greetings \(number)", picture: "boat"))
        }
        try context.save()
        return store
    }

    @Test func `a search of a subclass finds, counts and explains its objects only, unsaved ones too`() throws {
        let store = try letters()
        let context = try store.reopened()
        context.insert(Letter(text: "greetings"))
        context.insert(Postcard(text: "greetings", picture: "tower"))
        context.insert(Letter(text: "greetings"))
        var search = SearchDescriptor<Postcard>("greetings")
        #expect(try context.searchCount(search) == 4)
        #expect(try context.explain(search).foundCount == 4)
        search.facets = [\Postcard.picture]
        let found = try context.search(search)
        #expect(found.count == 4)
        #expect(found.hits.map(\.object.picture).sorted() == ["boat", "boat", "boat", "tower"])
        #expect(found.facets.map { $0.map(\.count) } == [[3, 1]])
        #expect(try context.searchCount(SearchDescriptor<Letter>("greetings")) == 9)
    }

    @Test func `the pages of a search of a subclass have its objects only`() throws {
        let store = try letters()
        let context = try store.reopened()
        context.insert(Letter(text: "greetings"))
        context.insert(Postcard(text: "greetings", picture: "tower"))
        var search = SearchDescriptor<Postcard>("greetings", limit: 3)
        let first = try context.search(search)
        #expect(first.cursor != nil)
        search.cursor = first.cursor
        let second = try context.search(search)
        #expect(first.hits.count == 3 && second.hits.count == 1 && second.cursor == nil)
        let pictures = (first.hits + second.hits).map(\.object.picture)
        #expect(pictures.sorted() == ["boat", "boat", "boat", "tower"])
    }

    @Test func `the changes of a search of a subclass are those of its objects`() async throws {
        let store = try letters()
        let context = store.context()
        let search = SearchDescriptor<Postcard>("greetings")
        var changes = store.container.changes(of: search, including: []).makeAsyncIterator()
        #expect(try await changes.next()?.inserted.count == 3)
        let postcard = Postcard(text: "greetings", picture: "tower")
        context.insert(Letter(text: "greetings"))
        context.insert(postcard)
        try context.save()
        #expect(try await changes.next()?.inserted == [postcard.persistentModelID])
    }

    @Test func `a search of a subclass uses the text indexes that its root class declares`() throws {
        let store = try TestStore(Essay.self, Critique.self)
        let context = store.context()
        context.insert(Essay(title: "harbour", body: "sea"))
        context.insert(Critique(title: "winter", body: "sea", verdict: "good"))
        try context.save()
        #expect(try context.search(Critique.self, "sea").map(\.object.verdict) == ["good"])
        var search = SearchDescriptor<Critique>("winter")
        search.properties = [\Critique.title]
        #expect(try context.search(search).hits.map(\.object.verdict) == ["good"])
        search = SearchDescriptor<Critique>("tag")
        search.properties = [\Critique.tag]
        #expect(try context.search(search).count == 1)
    }
}
