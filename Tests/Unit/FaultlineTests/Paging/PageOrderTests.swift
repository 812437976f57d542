import Faultline
import Testing

@Model final class PagedShelf {
    var label: String
    init(label: String) { self.label = label }
}

@Model final class PagedBook {
    var title: String
    var shelf: PagedShelf?

    init(title: String, shelf: PagedShelf?) {
        self.title = title
        self.shelf = shelf
    }
}

struct PageOrderTests {
    @Test("A23: pages refuse an order through a relationship, which fetch has, as docs/Queries.md says")
    func orderThroughARelationship() throws {
        let store = try TestStore(PagedBook.self, PagedShelf.self)
        let context = store.context()
        let shelves = ["b", "a"].map { PagedShelf(label: $0) }
        for (number, shelf) in shelves.enumerated() {
            context.insert(shelf)
            context.insert(PagedBook(title: "book \(number)", shelf: shelf))
        }
        try context.save()
        let byShelf = SortDescriptor(\PagedBook.shelf?.label)
        #expect(throws: SwiftDataError.unsupportedSortDescriptor) {
            try context.fetchPage(FetchDescriptor<PagedBook>(sortBy: [byShelf]), size: 1)
        }
        #expect(try context.fetch(FetchDescriptor(sortBy: [byShelf])).map(\.title) == ["book 1", "book 0"])
        let byTitle = FetchDescriptor<PagedBook>(sortBy: [SortDescriptor(\.title, comparator: .lexical)])
        #expect(try context.fetchPage(byTitle, size: 1).objects.map(\.title) == ["book 0"])
    }
}
