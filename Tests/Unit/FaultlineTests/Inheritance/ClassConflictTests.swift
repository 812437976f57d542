import Faultline
import Testing

/// Unique values that objects of several classes would share.
struct ClassConflictTests {
    enum Shop {
        @Model class Item {
            @Attribute(.unique) var code: String
            var title: String = ""
            init(code: String) { self.code = code }
        }

        @Model final class Book: Item {
            var pages: Int
            init(code: String, pages: Int) {
                self.pages = pages
                super.init(code: code)
            }
        }

        @Model final class Film: Item {
            var minutes: Int
            init(code: String, minutes: Int) {
                self.minutes = minutes
                super.init(code: code)
            }
        }
    }

    private let store: TestStore

    init() throws { store = try TestStore(Shop.Item.self, Shop.Book.self, Shop.Film.self) }

    private func withBook() throws -> ModelContext {
        let context = store.context()
        context.insert(Shop.Book(code: "a", pages: 3))
        try context.save()
        return context
    }

    /// The stored objects with their own values.
    private func stored() throws -> [String] {
        try store.reopened().fetch(FetchDescriptor<Shop.Item>(sortBy: [SortDescriptor(\.code)])).map { item in
            switch item {
            case let book as Shop.Book: "book \(book.code) \(book.pages)"
            case let film as Shop.Film: "film \(film.code) \(film.minutes)"
            default: "item \(item.code)"
            }
        }
    }

    @Test func `a new object does not take the place of a stored one of another class`() throws {
        let context = try withBook()
        for item in [Shop.Film(code: "a", minutes: 9), Shop.Item(code: "a")] {
            context.insert(item)
            #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
            context.rollback()
        }
        #expect(try stored() == ["book a 3"])
    }

    @Test func `two new objects of different classes are not merged`() throws {
        let context = store.context()
        context.insert(Shop.Book(code: "a", pages: 3))
        context.insert(Shop.Film(code: "a", minutes: 9))
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        context.rollback()
        context.insert(Shop.Item(code: "b"))
        context.insert(Shop.Book(code: "b", pages: 4))
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        context.rollback()
        #expect(try stored() == [])
    }

    @Test func `a new object takes the place of one of its own class`() throws {
        let context = try withBook()
        context.insert(Shop.Book(code: "a", pages: 5))
        try context.save()
        #expect(try stored() == ["book a 5"])
    }

    @Test func `a batch does not take the place of objects of another class`() throws {
        let context = try withBook()
        #expect(throws: SwiftDataError.modelValidationFailure) {
            try context.batchInsert(Shop.Film.self, [["code": "b", "minutes": 1], ["code": "a", "minutes": 2]])
        }
        #expect(try stored() == ["book a 3"])
        let other = store.context()
        try other.batchInsert(Shop.Book.self, [["code": "a", "pages": 7]])
        #expect(try stored() == ["book a 7"])
    }

    @Test func `a constraint of a subclass does not bound the values of other classes`() throws {
        let store = try TestStore.ofTrips()
        let context = store.context()
        let trip = Trip(name: "t")
        trip.note = String(repeating: "n", count: 40_000)
        context.insert(trip)
        try context.save()
        trip.note = String(repeating: "m", count: 41_000)
        try context.save()
        #expect(try store.reopened().fetch(FetchDescriptor<Trip>()).map { $0.note?.utf8.count } == [41_000])
    }

    @Test func `a container without classes refuses nil where the class of the object needs a value`() throws {
        _ = try withBook()
        let url = try #require(store.url)
        try store.container.close()
        let dynamic = try ModelContainer(opening: ModelConfiguration(url: url))
        let context = ModelContext(dynamic)
        let book = try #require(try context.fetch(FetchRequest(entityName: "Item")).first)
        book["pages"] = nil
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        context.rollback()
        book["pages"] = 6
        try context.save()
        #expect(book["pages"] as? Int == 6)
        try dynamic.close()
    }
}
